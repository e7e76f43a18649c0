package promconfig

import (
	"encoding/json"
	"fmt"
)

// maxFragmentBytes bounds the configuration that one object makes: an object of the
// API has at most 1.5 MB, and values of Secrets and what endpoints share multiply.
const maxFragmentBytes = 4 << 20

// fewEndpoints multiply nothing to a size that matters before it is checked.
const fewEndpoints = 16

func checkFragmentSize(text []byte) error {
	if len(text) > maxFragmentBytes {
		return fmt.Errorf("the object generates %d bytes of configuration, the limit is %d", len(text), maxFragmentBytes)
	}
	return nil
}

// checkShared refuses an object before each of its endpoints repeats what they
// share. shared is the spec without endpoints.
func checkShared(endpoints int, shared any) error {
	if endpoints <= fewEndpoints {
		return nil
	}
	text, err := json.Marshal(shared)
	if err != nil {
		return err
	}
	if n := endpoints * len(text); n > maxFragmentBytes {
		return fmt.Errorf("%d endpoints that share %d bytes of the spec generate at least %d bytes of configuration, the limit is %d",
			endpoints, len(text), n, maxFragmentBytes)
	}
	return nil
}
