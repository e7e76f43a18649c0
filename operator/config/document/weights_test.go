package document

import (
	"math/rand/v2"
	"testing"
)

// TestWeights: weights add up to about the size of the document, incompressible text weighs the
// most, and a change recomputes the weights of few chunks.
func TestWeights(t *testing.T) {
	ps := pieces(2000)
	noise := make([]byte, 20_000)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte(rng.IntN(256))
	}
	ps[700] = NewPiece(ps[700].name, noise)
	var a Assembler
	length := build(t, &a, ps).Length
	weights, err := a.Weights(ps)
	if err != nil || len(weights) != len(ps) {
		t.Fatal(len(weights), err)
	}
	total := 0
	for i, w := range weights {
		total += w
		if i != 700 && w > 400 {
			t.Errorf("piece %d weighs %d bytes", i, w)
		}
	}
	if w := weights[700]; w < 19_000 || w > 21_000 {
		t.Errorf("noise of 20,000 bytes weighs %d", w)
	}
	if total < length*4/5 || total > length*5/4 {
		t.Errorf("all weigh %d, the document has %d bytes", total, length)
	}
	known := len(a.weights)
	ps[1000] = NewPiece(ps[1000].name, []byte("- job_name: changed\n"))
	before := a.weights
	if _, err := a.Weights(ps); err != nil {
		t.Fatal(err)
	}
	fresh := 0
	for key := range a.weights {
		if _, was := before[key]; !was {
			fresh++
		}
	}
	if fresh == 0 || fresh > 3 {
		t.Errorf("one change weighed %d of %d chunks", fresh, known)
	}
	a.Close()
	if len(a.weights) > 0 {
		t.Error("weights are kept after Close")
	}
}
