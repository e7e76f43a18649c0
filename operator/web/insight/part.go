package insight

import (
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// take returns the rows of a page. Rows are sorted by key, and keys are unique.
//
// Errors: a bad request, with the name of the parameter.
func take[T any](rows []T, p Page, key func(*T) string) ([]T, Part, error) {
	if p.Limit < 1 {
		return nil, Part{}, apierrors.NewBadRequest(fmt.Sprintf("limit: %d is less than 1", p.Limit))
	}
	from := 0
	if p.Continue != "" {
		last, err := base64.RawURLEncoding.DecodeString(p.Continue)
		if err != nil {
			return nil, Part{}, apierrors.NewBadRequest("continue: not one of an answer")
		}
		for from < len(rows) && strings.Compare(key(&rows[from]), string(last)) <= 0 {
			from++
		}
	}
	out := Part{Total: len(rows)}
	rows = rows[from:]
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		out.Continue = base64.RawURLEncoding.EncodeToString([]byte(key(&rows[len(rows)-1])))
	}
	return append([]T{}, rows...), out, nil
}

// has reports whether a name contains the filter, ignoring case.
func (p Page) has(name string) bool {
	return p.Filter == "" || strings.Contains(strings.ToLower(name), strings.ToLower(p.Filter))
}
