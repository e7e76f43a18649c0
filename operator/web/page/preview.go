package page

import (
	"io"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// Maximum sizes of the manifests and of the body, which includes the overhead of forms.
const (
	maxManifests = 1 << 20
	maxBody      = maxManifests + 64<<10
)

// previewData has the effects of manifests.
type previewData struct {
	Manifests string
	// TooLong is true if the form does not show the manifests again.
	TooLong bool
	Report  *preview.Report // nil before the form is sent
	Error   string
	Jobs    []previewJob
	More    int // jobs
	Items   []preview.Target
	// MoreItems is the number of targets that are not shown.
	MoreItems int
	Without   []preview.Without
	NotUsed   []resultRow
}

// previewJob is a job of an object in a workload, or an object without jobs.
type previewJob struct {
	Workload preview.WorkloadResult
	Object   preview.Object
	Job      *preview.Job
}

func previewPage(q *request) (*view, error) {
	if q.Method != http.MethodPost {
		if err := q.allow(); err != nil {
			return nil, err
		}
		if q.twin {
			return nil, apierrors.NewBadRequest("POST manifests to this path")
		}
		return q.previewView(previewData{}), nil
	}
	manifests, err := q.manifests()
	if err != nil {
		return nil, err
	}
	out := previewData{Manifests: manifests}
	if out.TooLong = !editable(manifests); out.TooLong {
		out.Manifests = ""
	}
	report := q.preview // the page is rendered again if it has too many rows
	if report == nil {
		report, err = q.answers.Preview(q.Context(), q.rights, []byte(manifests))
		q.preview = report
	}
	switch {
	case q.twin:
		return &view{Answer: report}, err
	case apierrors.IsBadRequest(err) || apierrors.IsInvalid(err):
		out.Error = err.Error()
	case err != nil:
		return nil, err
	default:
		out.fill(q.limit, report)
	}
	v := q.previewView(out)
	if out.Error != "" {
		v.Code = http.StatusBadRequest
	}
	return v, nil
}

func (q *request) previewView(data previewData) *view {
	v := q.view("preview", "Preview")
	v.Crumbs = []link{{"Preview", v.root + "preview"}}
	v.Live = false // it shows the result at the time of the request
	v.Data = data
	return v
}

// fill adds up to n rows of each list.
func (d *previewData) fill(n int, r *preview.Report) {
	d.Report = r
	for _, owner := range r.Workloads {
		for _, object := range owner.Objects {
			for i := range object.Jobs {
				d.Jobs = append(d.Jobs, previewJob{owner, object, &object.Jobs[i]})
			}
			if len(object.Jobs) == 0 {
				d.Jobs = append(d.Jobs, previewJob{owner, object, nil})
			}
		}
	}
	d.Jobs, d.More = first(min(n, 30), d.Jobs)
	d.Items, d.MoreItems = first(min(n, maxRows/2), r.Items)
	d.MoreItems += r.Omitted
	notUsed, _ := first(min(n, 20), r.NotUsed)
	for _, v := range notUsed {
		d.NotUsed = append(d.NotUsed, resultRow{Result: v, State: resultState(v)})
	}
}

// manifests returns the manifests of a form, or the body of a program.
//
// Errors: larger than maxBody; empty.
func (q *request) manifests() (string, error) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	var text string
	switch kind {
	case "multipart/form-data", "application/x-www-form-urlencoded":
		if q.PostForm == nil { // not parsed yet
			err := q.ParseForm()
			if err == nil && kind == "multipart/form-data" {
				err = q.ParseMultipartForm(maxBody)
			}
			if err != nil {
				return "", largeOrBad(err)
			}
		}
		text = q.PostFormValue("manifests")
		if file, err := q.file(); err != nil || file != "" {
			if err != nil {
				return "", err
			}
			text = file
		}
	default:
		if q.body == nil {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return "", largeOrBad(err)
			}
			q.body = body
		}
		text = string(q.body)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	switch {
	case len(text) > maxManifests:
		return "", apierrors.NewRequestEntityTooLargeError("more than 1 MiB of manifests")
	case strings.TrimSpace(text) == "":
		return "", bad("manifests", "not given")
	}
	return text, nil
}

// file returns the content of a file in the form; empty if there is none.
func (q *request) file() (string, error) {
	if q.MultipartForm == nil || len(q.MultipartForm.File["file"]) == 0 {
		return "", nil
	}
	file, err := q.MultipartForm.File["file"][0].Open()
	if err != nil {
		return "", largeOrBad(err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file) // at most maxBody
	if err != nil {
		return "", largeOrBad(err)
	}
	return string(text), nil
}

// largeOrBad converts an error of reading a body.
func largeOrBad(err error) error {
	if status := statusOf(err); status.Code == http.StatusRequestEntityTooLarge {
		return err
	}
	return apierrors.NewBadRequest("the form cannot be read: " + err.Error())
}
