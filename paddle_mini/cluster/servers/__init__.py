# Parameter servers.
