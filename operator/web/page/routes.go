package page

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// routesTab is a routing tree.
type routesTab struct {
	*insight.Routes
	Tree routing.Step // truncated to a bounded size
	More int          // number of omitted routes
	// Given are the labels as they were written, followed by empty ones for input.
	Given []string
	Error string
}

// moreLabels is the number of empty fields in the form.
const moreLabels = 3

func routes(q *request, _ *insight.Workload) (data, answer any, err error) {
	given := q.query["label"]
	got, err := q.answers.Routes(q.Context(), q.rights, q.of.NamespacedName, given)
	message := ""
	if apierrors.IsBadRequest(err) && len(given) > 0 && !q.twin {
		message = err.Error()
		got, err = q.answers.Routes(q.Context(), q.rights, q.of.NamespacedName, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	out := routesTab{Routes: got, Error: message}
	left := q.limit
	out.Tree = prune(got.Route, &left, &out.More)
	out.Given, _ = first(20, given)
	out.Given = append(append([]string{}, out.Given...), make([]string, moreLabels)...)
	if message != "" {
		return out, got, apierrors.NewBadRequest(message)
	}
	return out, got, nil
}

// prune keeps the first routes of a tree, parents before children, and counts the others.
func prune(s routing.Step, left, more *int) routing.Step {
	*left--
	below := s.Routes
	s.Routes = nil
	for _, r := range below {
		if *left > 0 {
			s.Routes = append(s.Routes, prune(r, left, more))
			continue
		}
		*more += size(r)
	}
	return s
}

func size(s routing.Step) int {
	n := 1
	for _, r := range s.Routes {
		n += size(r)
	}
	return n
}

// routeRow is a route in a tree, with or without an alert.
type routeRow struct {
	Step  routing.Step
	Tried bool
}
