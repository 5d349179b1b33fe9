# What is seen of a running job.
