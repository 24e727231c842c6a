"""Where rows lie: the connection, the file, statements, and what may be left behind."""
