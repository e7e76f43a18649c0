package client

import "context"

// Within returns the result of do, or the context's cause if the context ends first. It is
// meant for calls of the discovery client, which have no context and may block forever. The
// result of an abandoned call is dropped.
func Within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
