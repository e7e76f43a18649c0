package client

import (
	"context"
	"errors"
	"testing"
)

func TestWithin(t *testing.T) {
	got, err := Within(t.Context(), func() (int, error) { return 7, errors.ErrUnsupported })
	if got != 7 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%d %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	started, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	go func() { <-started; cancel(errors.ErrUnsupported) }()
	got, err = Within(ctx, func() (int, error) { close(started); <-release; return 7, nil })
	if got != 0 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("given up: %d %v", got, err)
	}
}
