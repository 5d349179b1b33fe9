module paddle_mini/examples/embedding/go

go 1.19
