// Package optimizer keeps float32 parameters with the optimizers of paddle_mini, one Optimizer for each.
package optimizer

// #cgo pkg-config: paddle_mini_optimizer
// #include <paddle_optimizer.h>
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

const float32s = C.PADDLE_ELEMENT_TYPE_FLOAT32

// What an error of this package may wrap; ask with errors.Is.
var (
	ErrBusy      = errors.New("another goroutine is in a call for this optimizer")
	ErrNotFinite = errors.New("the gradient is not finite")
	ErrNoMemory  = errors.New("out of memory")
)

// Optimizer is one parameter and what its optimizer keeps. Different ones may be used at the same time; of two calls
// for one at the same time, one is refused with ErrBusy.
type Optimizer struct{ handle *C.paddle_optimizer }

// New makes an optimizer as the bytes of an OptimizerConfig say. It keeps a copy of parameter. With a state, what State
// gave, it goes on from there, and only the length of parameter counts.
func New(config []byte, parameter []float32, state []byte) (*Optimizer, error) {
	var made *C.paddle_optimizer
	err := call(func() C.int {
		made = C.paddle_create_optimizer(address(config), size(config), float32s, address(parameter), size(parameter),
			address(state), size(state))
		if made == nil {
			return C.paddle_optimizer_last_status()
		}
		return C.PADDLE_OPTIMIZER_OK
	})
	if err != nil {
		return nil, err
	}
	return &Optimizer{made}, nil
}

// Close frees the memory; every later call is an error. While another goroutine is in a call it is refused.
func (o *Optimizer) Close() error {
	err := call(func() C.int { return C.paddle_release_optimizer(o.handle) })
	if err == nil {
		o.handle = nil
	}
	return err
}

// Update makes a step with a gradient of the parameter's length.
func (o *Optimizer) Update(gradient []float32) error {
	return call(func() C.int {
		return C.paddle_update_parameter(o.handle, float32s, address(gradient), size(gradient))
	})
}

// UpdateRows makes a step with a gradient for some rows of a table, one after the other; one named twice gets the sum.
func (o *Optimizer) UpdateRows(rows []int64, gradient []float32) error {
	return call(func() C.int {
		return C.paddle_update_parameter_rows(o.handle, float32s, (*C.int64_t)(address(rows)), C.size_t(len(rows)),
			address(gradient), size(gradient))
	})
}

// ApplyDelta adds scale times delta.
func (o *Optimizer) ApplyDelta(delta []float32, scale float64) error {
	return call(func() C.int {
		return C.paddle_apply_delta(o.handle, float32s, address(delta), size(delta), C.double(scale))
	})
}

// Parameter is a copy of the newest values.
func (o *Optimizer) Parameter() ([]float32, error) {
	var bytes C.size_t
	var values unsafe.Pointer
	err := call(func() C.int {
		values = C.paddle_optimizer_param(o.handle, &bytes)
		if values == nil {
			return C.paddle_optimizer_last_status()
		}
		return C.PADDLE_OPTIMIZER_OK
	})
	if err != nil {
		return nil, err
	}
	return append([]float32{}, unsafe.Slice((*float32)(values), int(bytes)/4)...), nil
}

// Rows copies some rows of a table into values, which has their length.
func (o *Optimizer) Rows(rows []int64, values []float32) error {
	return call(func() C.int {
		return C.paddle_optimizer_get_rows(o.handle, float32s, (*C.int64_t)(address(rows)), C.size_t(len(rows)),
			address(values), size(values))
	})
}

// Average copies one of the averages that the configuration lists into values.
func (o *Optimizer) Average(which int, values []float32) error {
	return call(func() C.int {
		return C.paddle_optimizer_average(o.handle, C.size_t(which), float32s, address(values), size(values))
	})
}

// State is everything that New needs to go on with equal bits.
func (o *Optimizer) State() ([]byte, error) {
	var state unsafe.Pointer
	var length C.size_t
	err := call(func() C.int { return C.paddle_optimizer_get_state(o.handle, &state, &length) })
	if err != nil {
		return nil, err
	}
	defer C.paddle_optimizer_free_state(state)
	return append([]byte{}, unsafe.Slice((*byte)(state), int(length))...), nil
}

// SetLearningRate replaces what the configuration's policy says.
func (o *Optimizer) SetLearningRate(rate float64) error {
	return call(func() C.int { return C.paddle_optimizer_set_learning_rate(o.handle, C.double(rate)) })
}

// call turns a status into an error. The library keeps messages by thread, and a goroutine may go on in another one
// between two calls of C: it is held to its thread until the message is read.
func call(function func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := function()
	if status == C.PADDLE_OPTIMIZER_OK {
		return nil
	}
	message := C.GoString(C.paddle_optimizer_last_error())
	switch status {
	case C.PADDLE_OPTIMIZER_BUSY:
		return fmt.Errorf("%w: %s", ErrBusy, message)
	case C.PADDLE_OPTIMIZER_NOT_FINITE:
		return fmt.Errorf("%w: %s", ErrNotFinite, message)
	case C.PADDLE_OPTIMIZER_NO_MEMORY:
		return fmt.Errorf("%w: %s", ErrNoMemory, message)
	}
	return errors.New(message)
}

// address is where the elements are; nil where there are none.
func address[T any](elements []T) unsafe.Pointer {
	if len(elements) == 0 {
		return nil
	}
	return unsafe.Pointer(&elements[0])
}

// size is in bytes.
func size[T any](elements []T) C.size_t {
	var one T
	return C.size_t(len(elements)) * C.size_t(unsafe.Sizeof(one))
}
