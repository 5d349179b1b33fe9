# Parameter servers, and the reducers of collective mode.
