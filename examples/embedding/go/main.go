// predict PREFIX: goroutines call one predictor; prints the outputs for batches of 1 to 4 rows.
package main

// #cgo pkg-config: paddle_mini
// #include <paddle_mini.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

const (
	inputs  = 6
	batches = 4
)

// call runs f on one thread of the system, which has the message of its error.
func call(f func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f() != C.PM_OK {
		return errors.New(C.GoString(C.pm_last_error()))
	}
	return nil
}

func load(prefix string) (predictor C.pm_predictor, err error) {
	path := C.CString(prefix)
	defer C.free(unsafe.Pointer(path))
	err = call(func() C.int { return C.pm_predictor_load(path, nil, C.PM_CHECKED, &predictor) })
	return
}

// predict returns a copy of the first output. Memory of Go may not contain pointers that C reads, so x is copied.
func predict(predictor C.pm_predictor, x []float32) ([]float32, error) {
	var values C.pm_values
	if err := call(func() C.int { return C.pm_values_create(&values) }); err != nil {
		return nil, err
	}
	defer C.pm_release(C.uint64_t(values))
	given := (*C.pm_tensor)(C.calloc(1, C.sizeof_pm_tensor))
	data := C.malloc(C.size_t(4 * len(x)))
	defer C.free(unsafe.Pointer(given))
	defer C.free(data)
	copy(unsafe.Slice((*float32)(data), len(x)), x)
	given.data, given.bytes, given.dtype, given.rank = data, C.size_t(4*len(x)), C.PM_FLOAT32, 2
	given.shape[0], given.shape[1] = C.int64_t(len(x)/inputs), inputs
	if err := call(func() C.int { return C.pm_predictor_run(predictor, given, 1, values) }); err != nil {
		return nil, err
	}
	var found C.pm_tensor
	if err := call(func() C.int { return C.pm_values_get(values, 0, 0, &found) }); err != nil {
		return nil, err
	}
	return append([]float32(nil), unsafe.Slice((*float32)(found.data), int(found.bytes)/4)...), nil
}

func run(prefix string) error {
	predictor, err := load(prefix)
	if err != nil {
		return err
	}
	defer C.pm_release(C.uint64_t(predictor))
	var outputs [batches][]float32
	var errs [batches]error
	var all sync.WaitGroup
	for i := range outputs {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			x := make([]float32, (i+1)*inputs)
			for k := range x {
				x[k] = float32(k) / 8
			}
			outputs[i], errs[i] = predict(predictor, x)
		}(i)
	}
	all.Wait()
	for i, values := range outputs {
		if errs[i] != nil {
			return errs[i]
		}
		for _, value := range values {
			fmt.Printf("%.6f\n", value)
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: predict PREFIX")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
}
