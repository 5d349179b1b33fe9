// Linear regression whose weights and table of items are each kept by an optimizer of the library:
// target = weights . x + item . (the first numbers of x) + noise.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand"

	"paddle_mini/examples/go/optimizer"
)

const (
	features = 16
	items    = 1000
	width    = 4 // of an item's row
	batch    = 32
	steps    = 600
)

// Momentum 0.9, learning rate 0.02, an exponential average of the weights. The numbers are those of optimizer.proto.
var denseConfig = optimizer.Message{}.
	Whole(1, 1).                                                  // optimizer: SGD
	Message(3, optimizer.Message{}.Double(21, 0.9)).              // sgd { momentum }
	Message(12, optimizer.Message{}.Double(1, 0.02)).             // const_lr { learning_rate }
	Message(108, optimizer.Message{}.Whole(1, 4).Double(5, 0.99)) // averaging { scheme: exponential, decay }

// Adagrad, for rows of which some come often and some seldom.
var tableConfig = optimizer.Message{}.
	Whole(1, 3).                                     // optimizer: Adagrad
	Message(12, optimizer.Message{}.Double(1, 0.3)). // const_lr { learning_rate }
	Whole(107, width)                                // row_width

type model struct{ dense, table *optimizer.Optimizer }

// newModel begins with zeros, or goes on from what save gave.
func newModel(state [2][]byte) (model, error) {
	dense, err := optimizer.New(denseConfig, make([]float32, features), state[0])
	if err != nil {
		return model{}, err
	}
	table, err := optimizer.New(tableConfig, make([]float32, items*width), state[1])
	if err != nil {
		dense.Close()
		return model{}, err
	}
	return model{dense, table}, nil
}

func (m model) close() {
	m.dense.Close()
	m.table.Close()
}

func (m model) save() (state [2][]byte, err error) {
	if state[0], err = m.dense.State(); err != nil {
		return
	}
	state[1], err = m.table.State()
	return
}

// truth is what the data is made of.
type truth struct{ weights, items []float32 }

func newTruth() truth {
	random := rand.New(rand.NewSource(1))
	return truth{uniform(random, features), uniform(random, items*width)}
}

func uniform(random *rand.Rand, count int) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = 2*random.Float32() - 1
	}
	return values
}

// step makes one update with the batch of this number; it returns the mean of the squared errors.
func (m model) step(t truth, number int) (float64, error) {
	random := rand.New(rand.NewSource(int64(1000 + number)))
	weights, err := m.dense.Parameter()
	if err != nil {
		return 0, err
	}
	x, ids := make([][]float32, batch), make([]int64, batch)
	for i := range ids {
		x[i], ids[i] = uniform(random, features), int64(random.Intn(items))
	}
	rows := make([]float32, batch*width)
	if err := m.table.Rows(ids, rows); err != nil {
		return 0, err
	}
	loss, dense, sparse := 0.0, make([]float32, features), make([]float32, batch*width)
	for i, id := range ids {
		slope := -0.1 * (2*random.Float32() - 1)
		for k, value := range x[i] {
			slope += (weights[k] - t.weights[k]) * value
		}
		for k := 0; k < width; k++ {
			slope += (rows[i*width+k] - t.items[int(id)*width+k]) * x[i][k]
		}
		loss += float64(slope*slope) / batch
		for k, value := range x[i] {
			dense[k] += 2 * slope / batch * value
		}
		for k := 0; k < width; k++ {
			sparse[i*width+k] = 2 * slope / batch * x[i][k]
		}
	}
	if err := m.dense.Update(dense); err != nil {
		return 0, err
	}
	return loss, m.table.UpdateRows(ids, sparse)
}

func (m model) train(t truth, from, to int) (loss float64, err error) {
	for number := from; number < to; number++ {
		if loss, err = m.step(t, number); err != nil {
			return
		}
		if number%100 == 0 {
			fmt.Printf("step %3d  loss %.4f\n", number, loss)
		}
	}
	return
}

// run trains a model, makes a second one of its state halfway, and returns what both save at the end.
func run() (first, second [2][]byte, err error) {
	t := newTruth()
	a, err := newModel([2][]byte{})
	if err != nil {
		return
	}
	defer a.close()
	if _, err = a.train(t, 0, steps/2); err != nil {
		return
	}
	halfway, err := a.save()
	if err != nil {
		return
	}
	b, err := newModel(halfway)
	if err != nil {
		return
	}
	defer b.close()
	fmt.Println("the state is saved, and a second model made of it")
	if _, err = a.train(t, steps/2, steps); err != nil {
		return
	}
	loss, err := b.train(t, steps/2, steps)
	if err != nil {
		return
	}
	fmt.Printf("step %d  loss %.4f\n", steps, loss)
	if first, err = a.save(); err != nil {
		return
	}
	second, err = b.save()
	return
}

func main() {
	first, second, err := run()
	if err != nil {
		log.Fatal(err)
	}
	if !bytes.Equal(first[0], second[0]) || !bytes.Equal(first[1], second[1]) {
		log.Fatal("the models differ")
	}
	fmt.Println("both models have the same bits")
}
