# The coordinator: who is in the job, who initialises, who saves, who reads what.
