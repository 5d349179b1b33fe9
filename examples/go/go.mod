module paddle_mini/examples/go

go 1.19
