# Trainers: the training step of each mode, and the exchange of parameters and gradients with the servers.
