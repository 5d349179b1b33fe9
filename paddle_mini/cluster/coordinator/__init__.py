# The coordinator: membership, initialisation, election of the trainer that saves, and data tasks of a job.
