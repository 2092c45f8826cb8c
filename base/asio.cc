// The one file that compiles Asio's and Beast's bodies.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
