# Status of a running job: snapshots, terminal tables and TensorBoard.
