# Trainers: what a step is in each mode, and how parameters come and go.
