// Holds the precompiled header for the rooms that use Asio (cmake/room.cmake).
