package adversary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// attacker creates hostile objects as a user with the ClusterRole edit in one namespace.
type attacker struct {
	w      *environment
	source *hostile.Source
	found  func(Finding)

	mu    sync.Mutex
	alive []hostile.Object // in order of creation
	count counts
}

// counts is the number of API calls by result.
type counts struct {
	created, updated, deleted int
	bytes                     int64
	refused                   map[string]int // failed creations, by the component that rejected them
}

func newAttacker(w *environment, found func(Finding)) (*attacker, error) {
	source, err := hostile.New(hostile.Options{Seed: w.Seed, Namespace: hostileNS, Beta: true})
	if err != nil {
		return nil, err
	}
	return &attacker{w: w, source: source, found: found, count: counts{refused: map[string]int{}}}, nil
}

// batch creates the objects with these numbers and changes some of them.
func (a *attacker) batch(ctx context.Context, from, to int) {
	numbers := make(chan int)
	var g sync.WaitGroup
	for range a.w.Workers {
		g.Go(func() {
			for n := range numbers {
				a.object(ctx, n)
			}
		})
	}
	for n := from; n < to && ctx.Err() == nil; n++ {
		numbers <- n
	}
	close(numbers)
	g.Wait()
}

// object creates one object with the Secrets that it refers to. Every second object bypasses the webhooks, every eighth
// is changed, and every sixteenth is deleted at once.
func (a *attacker) object(ctx context.Context, n int) {
	o := a.source.Object(n)
	if n%2 == 0 {
		meta := o.Manifest["metadata"].(hostile.Manifest)
		labels, _ := meta["labels"].(hostile.Manifest)
		if labels == nil {
			labels = hostile.Manifest{}
		}
		labels[unchecked] = "true"
		meta["labels"] = labels
	}
	for _, secret := range o.With {
		if _, err := a.send(ctx, http.MethodPost, "/api/v1/namespaces/"+hostileNS+"/secrets", secret); err != nil {
			a.refused("Secret", err)
		}
	}
	size, err := a.send(ctx, http.MethodPost, pathOf(o.Manifest, o.Resource, ""), o.Manifest)
	if err != nil {
		a.refused(o.Kind, err)
		a.remove(ctx, hostile.Object{With: o.With})
		return
	}
	a.mu.Lock()
	a.count.created++
	a.count.bytes += int64(size)
	a.alive = append(a.alive, o)
	a.mu.Unlock()
	switch {
	case n%16 == 3:
		a.forget(o)
		a.remove(ctx, o)
	case n%8 == 1:
		a.change(ctx, n, o)
	}
}

// change patches an object several times, also with the specs of others.
func (a *attacker) change(ctx context.Context, n int, o hostile.Object) {
	path := pathOf(o.Manifest, o.Resource, nameOf(o.Manifest))
	for i := range 10 {
		a.patch(ctx, path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/count": fmt.Sprint(i)}}})
	}
	for i := range 6 {
		next := a.source.Object(1_000_000 + n*6 + i)
		if next.Resource == o.Resource && next.Manifest["apiVersion"] == o.Manifest["apiVersion"] {
			a.patch(ctx, path, map[string]any{"spec": next.Manifest["spec"]})
		}
	}
}

func (a *attacker) patch(ctx context.Context, path string, patch map[string]any) {
	text, err := json.Marshal(patch)
	if err != nil {
		return
	}
	err = a.w.user.Patch(types.MergePatchType).AbsPath(path).Body(text).Do(ctx).Error()
	a.mu.Lock()
	if err == nil {
		a.count.updated++
	}
	a.mu.Unlock()
	a.conversion(err)
}

// send sends one API request and returns the size of the body.
func (a *attacker) send(ctx context.Context, verb, path string, body any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	return len(text), a.w.user.Verb(verb).AbsPath(path).SetHeader("Content-Type", "application/json").Body(text).Do(ctx).Error()
}

// refused counts a failed creation by the component that rejected it.
func (a *attacker) refused(kind string, err error) {
	a.conversion(err)
	by := "API server"
	text := err.Error()
	switch {
	case strings.Contains(text, "denied the request"):
		by = "webhook"
	case strings.Contains(text, "failed calling webhook"):
		by = "webhook that does not answer"
	case strings.Contains(text, "conversion webhook"):
		by = "conversion"
	case apierrors.IsForbidden(err):
		by = "RBAC"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		by = "schema"
	case apierrors.IsRequestEntityTooLargeError(err), strings.Contains(text, "too large"):
		by = "size"
	case errors.Is(err, context.Canceled):
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count.refused[by]++
	if by == "API server" {
		a.w.debug("refused %s: %.300s", kind, text)
	}
}

// conversion reports an object that cannot be converted.
func (a *attacker) conversion(err error) {
	if err != nil && strings.Contains(err.Error(), "conversion webhook") && !a.w.cutOff(err) {
		a.found(Finding{Kind: Unserved, Text: err.Error()})
	}
}

// shrink deletes the oldest objects until left remain.
func (a *attacker) shrink(ctx context.Context, left int) {
	a.mu.Lock()
	most := max(0, len(a.alive)-left)
	old := slices.Clone(a.alive[:most])
	a.alive = slices.Clone(a.alive[most:])
	a.mu.Unlock()
	var g sync.WaitGroup
	slots := make(chan struct{}, a.w.Workers)
	for _, o := range old {
		slots <- struct{}{}
		g.Go(func() {
			a.remove(ctx, o)
			<-slots
		})
	}
	g.Wait()
}

// remove deletes an object and the Secrets that it refers to.
func (a *attacker) remove(ctx context.Context, o hostile.Object) {
	var all []string
	if o.Manifest != nil {
		all = append(all, pathOf(o.Manifest, o.Resource, nameOf(o.Manifest)))
	}
	for _, secret := range o.With {
		all = append(all, "/api/v1/namespaces/"+hostileNS+"/secrets/"+nameOf(secret))
	}
	for _, path := range all {
		err := a.w.user.Delete().AbsPath(path).Do(ctx).Error()
		switch {
		case err == nil:
			a.mu.Lock()
			a.count.deleted++
			a.mu.Unlock()
		case !apierrors.IsNotFound(err) && ctx.Err() == nil && !a.w.cutOff(err):
			a.found(Finding{Kind: Unserved, Text: "delete: " + err.Error(), Objects: []hostile.Manifest{o.Manifest}})
		}
	}
}

func (a *attacker) forget(o hostile.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alive = slices.DeleteFunc(a.alive, func(other hostile.Object) bool { return other.Index == o.Index })
}

// living returns the objects that were created and not deleted.
func (a *attacker) living() []hostile.Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.alive)
}

func (a *attacker) counted() counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.count
	out.refused = map[string]int{}
	for by, n := range a.count.refused {
		out.refused[by] = n
	}
	return out
}

func nameOf(m hostile.Manifest) string {
	meta, _ := m["metadata"].(hostile.Manifest)
	name, _ := meta["name"].(string)
	return name
}

// pathOf returns the API path of an object in its own version, or of its list if the name is empty.
func pathOf(m hostile.Manifest, resource, name string) string {
	version, _ := m["apiVersion"].(string)
	path := "/apis/" + version + "/namespaces/" + hostileNS + "/" + resource
	if name != "" {
		path += "/" + name
	}
	return path
}
