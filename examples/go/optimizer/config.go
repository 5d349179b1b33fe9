// Configurations of optimizers as bytes of protobuf.

package optimizer

import (
	"encoding/binary"
	"math"
)

// Message writes an OptimizerConfig (optimizer.proto) without protobuf's generated code. Each method adds one field:
// its number and kind, then the value. Like append, it may write behind the message that it is called on.
type Message []byte

// Whole adds a whole number, an enum or a bool.
func (m Message) Whole(field uint64, value uint64) Message {
	return binary.AppendUvarint(binary.AppendUvarint(m, field<<3), value)
}

// Double adds a floating-point number.
func (m Message) Double(field uint64, value float64) Message {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(m, field<<3|1), math.Float64bits(value))
}

// Message adds a message inside this one.
func (m Message) Message(field uint64, inner Message) Message {
	return append(binary.AppendUvarint(binary.AppendUvarint(m, field<<3|2), uint64(len(inner))), inner...)
}
