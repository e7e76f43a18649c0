package apply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// DaemonSet creates or updates a DaemonSet:
//
//	cache has                         | call
//	----------------------------------|------------------------------------------
//	no DaemonSet                      | create
//	none, but the server has one      | update it, with its labels
//	one that is being deleted         | none
//	our write, not edited since       | none, unless metadata of ours was changed
//	another, or one from before       | update; after a restart of the operator
//	  the operator was started        | once, without effect
//	... and the server responds 422   | foreground delete; its event triggers a retry
func (w *Writer) DaemonSet(ctx context.Context, want *appsv1.DaemonSet) (Change, error) {
	k := &w.daemonSets
	live, ok := k.view.Get(want.Namespace, want.Name)
	if ok && (live.DeletionTimestamp != nil || k.same(want, live)) {
		return Unchanged, nil
	}
	if err := k.admit(ctx, want, live, ok); err != nil {
		return "", err
	}
	var change Change
	var err error
	if ok {
		change, err = k.replace(ctx, want, &live)
	} else if change, err = k.create(ctx, want); apierrors.IsAlreadyExists(err) {
		change, err = k.replace(ctx, want, nil)
	}
	if _, immutable := refusedAsInvalid(err); immutable && ok {
		change, err = k.removeWithPods(ctx, live)
		if change == Deleted {
			k.noted(want, nil)
		}
	}
	return change, err
}

// written records the specs from which DaemonSets were written. They carry no hash of it,
// and the API server applies defaults, so that specs cannot be compared.
type written struct {
	mu   sync.Mutex
	made map[types.NamespacedName]madeOf
}

type madeOf struct {
	uid        types.UID
	generation int64 // changes with every edit of the spec
	spec       [sha256.Size]byte
}

func (m *written) note(want, got *appsv1.DaemonSet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil {
		m.made = map[types.NamespacedName]madeOf{}
	}
	m.made[catalog.KeyOf(want)] = madeOf{got.UID, got.Generation, digestOf(want.Spec)}
}

// ForgetDaemonSet drops the record of a deleted DaemonSet. It must be called for every deletion in the cache.
func (w *Writer) ForgetDaemonSet(gone *appsv1.DaemonSet) {
	w.daemonSets.view.Forget(gone)
	w.nodes.mu.Lock()
	defer w.nodes.mu.Unlock()
	if w.nodes.made[catalog.KeyOf(gone)].uid == gone.UID {
		delete(w.nodes.made, catalog.KeyOf(gone))
	}
}

func (m *written) same(want, live *appsv1.DaemonSet) bool {
	m.mu.Lock()
	last, known := m.made[catalog.KeyOf(want)]
	m.mu.Unlock()
	return known && last == madeOf{live.UID, live.Generation, digestOf(want.Spec)} && sameMeta(want, live)
}

// digestOf returns zero if part cannot be encoded, which does not happen for API objects.
func digestOf(part any) [sha256.Size]byte {
	text, err := json.Marshal(part)
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(text)
}

func mergeDaemonSet(want, live *appsv1.DaemonSet) {
	mergeMeta(want, live)
	mergeTemplate(&want.Spec.Template, &live.Spec.Template)
}
