package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
)

const (
	// refusalBytes limits how much of an error response is read. The API server quotes each invalid
	// value of an object, so the response may be several times as large as the object.
	refusalBytes = 64 << 10
	// refusalText limits the error message of a longer response.
	refusalText = 4 << 10
)

// Bounded returns a transport that limits the size of error responses. Use it with
// [k8s.io/client-go/rest.Config.Wrap].
func Bounded(next http.RoundTripper) http.RoundTripper { return bounded{next} }

type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	head, err := io.ReadAll(io.LimitReader(answer.Body, refusalBytes+1))
	if len(head) <= refusalBytes {
		// If the body could not be read completely, pass it on with the error.
		answer.Body = body{io.MultiReader(bytes.NewReader(head), ended{err}), answer.Body}
		return answer, nil
	}
	short, err := json.Marshal(refusal(answer.StatusCode, head))
	if err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	answer.Header = answer.Header.Clone()
	answer.Header.Set("Content-Type", runtime.ContentTypeJSON)
	answer.Header.Del("Content-Length")
	answer.ContentLength = int64(len(short))
	answer.Body = body{bytes.NewReader(short), answer.Body}
	return answer, nil
}

type body struct {
	io.Reader
	io.Closer
}

// ended is an empty reader. It fails if err is set.
type ended struct{ err error }

// Read implements io.Reader.
func (e ended) Read([]byte) (int, error) { return 0, cmp.Or(e.err, io.EOF) }

// refusal returns the Status of an error response from its code and the head of its body.
func refusal(code int, head []byte) metav1.Status {
	out := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", "", 0, true).ErrStatus
	out.Kind, out.APIVersion = "Status", "v1"
	out.Message, out.Details = excerpt.Of(messageIn(head), refusalText), nil
	return out
}

// protobufHead is the prefix of protobuf-encoded objects; a [runtime.Unknown] follows.
var protobufHead = []byte("k8s\x00")

// Field numbers of protobuf messages.
const (
	rawOfUnknown    = 2
	messageOfStatus = 3
)

// messageIn returns the message in the head of a Status, empty if there is none.
func messageIn(head []byte) string {
	if answer, is := bytes.CutPrefix(head, protobufHead); is {
		text := message.Field(answer, rawOfUnknown, messageOfStatus)
		return strings.ToValidUTF8(string(text[:min(len(text), refusalText)]), "")
	}
	_, text, _ := bytes.Cut(head, []byte(`"message":"`))
	text = text[:min(len(text), refusalText)]
	var out string
	for cut := range min(len(text), len(`\ud83d\ude00`)) { // an escape sequence may be truncated
		if json.Unmarshal(slices.Concat([]byte{'"'}, text[:len(text)-cut], []byte{'"'}), &out) == nil {
			return out
		}
	}
	return ""
}
