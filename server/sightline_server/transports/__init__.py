"""How clients reach the server: stdio and HTTP, over the same dispatch."""
