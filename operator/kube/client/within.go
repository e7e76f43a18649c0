package client

import "context"

// Within returns what do returns, or the cause for which the context ended if that comes
// first: calls of the discovery client take no context, and wait for an API server that does
// not answer for ever. The result of a call that was given up is dropped.
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
