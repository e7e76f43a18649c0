package insight

import (
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// take is the part of rows that a page asks for. Rows are in the order of their keys, which
// are different.
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

// has reports whether a name has the filter in it.
func (p Page) has(name string) bool {
	return p.Filter == "" || strings.Contains(strings.ToLower(name), strings.ToLower(p.Filter))
}
