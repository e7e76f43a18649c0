package document

import "fmt"

// Weights returns the approximate number of bytes that each piece adds to the compressed
// document, in the order of the pieces. It compresses all pieces except in chunks that did
// not change since the last call. It does not affect the document of the last Build.
func (a *Assembler) Weights(pieces []*Piece) ([]int, error) {
	now := make(map[[32]byte][]int, len(a.weights))
	out := make([]int, 0, len(pieces))
	for _, g := range quick.cut(pieces) {
		key := g.key(quick)
		weights := a.weights[key]
		if weights == nil {
			var err error
			if weights, err = g.weights(); err != nil {
				return nil, err
			}
		}
		now[key] = weights
		out = append(out, weights...)
	}
	a.weights = now
	return out, nil
}

// weights returns the weights of the pieces of a group. Each piece is compressed after the
// preceding ones, and the weights add up to the size of the chunk.
func (g group) weights() ([]int, error) {
	block, _, err := quick.compress(g)
	if err != nil {
		return nil, err
	}
	s, err := quick.squeezer()
	if err != nil {
		return nil, err
	}
	defer quick.writers.Put(s)
	s.before.Reset()
	if _, err := writeAll(&s.before, g.before); err != nil {
		return nil, err
	}
	var written counter
	s.ResetDict(&written, last(s.before.Bytes(), quick.reach))
	out := make([]int, len(g.pieces))
	for i, p := range g.pieces {
		before := written
		if _, err := writeAll(s, []*Piece{p}); err != nil {
			return nil, err
		}
		if err := s.Flush(); err != nil {
			return nil, fmt.Errorf("compress %q: %w", p.name, err)
		}
		out[i] = int(written - before)
	}
	for i := range out { // each ended with an extra block, which has about the same size everywhere
		out[i] = max(1, out[i]-(int(written)-len(block))/len(out))
	}
	return out, nil
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
