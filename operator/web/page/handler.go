package page

import (
	"net/http"

	"github.com/firekeeper-dev/firekeeper/operator/insight"
)

// Options are where the pages come from.
type Options struct {
	// Answers returns what is asked.
	//
	// Errors: 503 while nothing is known yet.
	Answers func() (insight.Answers, error)
	// Authorize returns the rights of the caller, if the caller may get the object; without a
	// kind, of any caller that is known. A pod is asked about as an Object without Row, with a
	// name.
	//
	// Errors: 401, 403, 503 as an API server has them.
	Authorize func(r *http.Request, o insight.Object) (insight.Rights, error)
}
