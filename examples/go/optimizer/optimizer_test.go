// Tests of package optimizer with a library that is built.

package optimizer

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var adam = Message{}.Whole(1, 4).Message(12, Message{}.Double(1, 0.1))

func start(t *testing.T, config []byte, parameter []float32, state []byte) *Optimizer {
	t.Helper()
	made, err := New(config, parameter, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

func update(t *testing.T, o *Optimizer, gradient ...float32) {
	t.Helper()
	if err := o.Update(gradient); err != nil {
		t.Fatal(err)
	}
}

func values(t *testing.T, o *Optimizer) []float32 {
	t.Helper()
	found, err := o.Parameter()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSGD(t *testing.T) {
	sgd := start(t, Message{}.Message(12, Message{}.Double(1, 0.5)), []float32{1, 2}, nil)
	update(t, sgd, 2, -4)
	if found := values(t, sgd); found[0] != 0 || found[1] != 4 {
		t.Errorf("1, 2 with gradient 2, -4 and rate 0.5 became %v", found)
	}
}

func TestRowsThatAreNamedTwiceGetTheSum(t *testing.T) {
	config := Message{}.Message(12, Message{}.Double(1, 1)).Whole(107, 2)
	table := start(t, config, make([]float32, 6), nil)
	if err := table.UpdateRows([]int64{2, 0, 2}, []float32{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	rows := make([]float32, 4)
	if err := table.Rows([]int64{2, 1}, rows); err != nil {
		t.Fatal(err)
	}
	if rows[0] != -6 || rows[1] != -8 || rows[2] != 0 || rows[3] != 0 {
		t.Errorf("rows 2 and 1 are %v", rows)
	}
}

func TestAStateGoesOnWithEqualBits(t *testing.T) {
	first := start(t, adam, []float32{1, 2, 3}, nil)
	update(t, first, 0.1, -0.2, 0.3)
	state, err := first.State()
	if err != nil {
		t.Fatal(err)
	}
	second := start(t, adam, make([]float32, 3), state)
	for i := 0; i < 5; i++ {
		update(t, first, 0.5, 0.5, -1)
		update(t, second, 0.5, 0.5, -1)
	}
	left, _ := first.State()
	right, _ := second.State()
	if !bytes.Equal(left, right) {
		t.Error("states differ")
	}
}

func TestMistakesAreErrors(t *testing.T) {
	if _, err := New([]byte("nonsense"), []float32{1}, nil); err == nil || err.Error() == "" {
		t.Errorf("a wrong configuration gave %v", err)
	}
	o := start(t, adam, []float32{1, 2}, nil)
	if err := o.Update([]float32{1}); err == nil || !strings.Contains(err.Error(), "4") {
		t.Errorf("a short gradient gave %v", err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if err := o.Update([]float32{1, 2}); err == nil {
		t.Error("an update after Close was taken")
	}
}

func TestGradientsThatAreNotFiniteAreToldApart(t *testing.T) {
	o := start(t, adam.Whole(105, 1), []float32{1}, nil) // nan_policy: Refuse
	if err := o.Update([]float32{float32(math.NaN())}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN gave %v", err)
	}
}

func TestMessagesStayWithTheirGoroutine(t *testing.T) {
	o := start(t, adam, make([]float32, 64), nil)
	var done sync.WaitGroup
	for length := 1; length <= 32; length++ {
		done.Add(1)
		go func(gradient []float32, expected string) {
			defer done.Done()
			for i := 0; i < 200; i++ {
				err := o.Update(gradient)
				if err == nil || !errors.Is(err, ErrBusy) && !strings.Contains(err.Error(), expected) {
					t.Errorf("%d elements of 64 gave %v", len(gradient), err)
					return
				}
			}
		}(make([]float32, length), strconv.Itoa(4*length))
	}
	done.Wait()
}
