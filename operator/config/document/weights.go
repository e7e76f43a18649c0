package document

import "fmt"

// Weights returns about how many bytes each piece adds to the compressed document, in the
// order of the pieces. All pieces are compressed for it, but those of chunks in which
// nothing has changed since the last call. It does not touch the document of the last Build.
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

// weights returns those of the pieces of a group: each is compressed after those before it,
// and what they have together is what the chunk has.
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
	s.ResetDict(&written, last(s.before.Bytes(), reach))
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
	for i := range out { // each ended a block of its own, which takes about the same everywhere
		out[i] = max(1, out[i]-(int(written)-len(block))/len(out))
	}
	return out, nil
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
