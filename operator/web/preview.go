package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// longestBody is the maximum size of manifests in bytes.
const longestBody = 1 << 20

// preview returns the targets that would be scraped if the manifests of the body were applied. The
// caller needs the permission to get the objects of the manifests.
func (h *Handler) preview(q *request) (any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(q.writer, q.Body, longestBody))
	if err != nil {
		return nil, unreadBody(err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, apierrors.NewBadRequest("the body is empty: send manifests in YAML or JSON")
	}
	return answered(h, func(a insight.Answers) (*preview.Report, error) { return a.Preview(q.Context(), q.rights, body) })
}

func unreadBody(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return refusal(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	return apierrors.NewBadRequest("the body did not arrive whole")
}
