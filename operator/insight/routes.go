package insight

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/routing"
)

// Routes implements [Answers]. The routes are those that the operator compiles now.
func (c *Cluster) Routes(ctx context.Context, r Rights, am types.NamespacedName, labels []string) (*Routes, error) {
	w, err := c.world(ctx)
	if err != nil {
		return nil, err
	}
	e, err := w.of(Object{catalog.Alertmanager, am})
	if err != nil {
		return nil, err
	}
	given, err := routing.ParseLabels(labels)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("label: %v", err))
	}
	made, err := c.compiled(ctx, w, e)
	if err != nil {
		return nil, err
	}
	text, origins, err := routing.Compiled(made.object.(*v1.Alertmanager), w.objects[catalog.AlertmanagerConfig], made.verdicts, made.plan)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	config, err := routing.Parse(text)
	if err != nil {
		return nil, notWritten(e, err)
	}
	a, out := asking(ctx, r), &Routes{Alertmanager: e.ref, Tried: len(given) > 0, Unread: slices.Clone(w.unread)}
	h := hidingRoutes{a, made.mask.base}
	for i, rejected := range origins.Rejected {
		if ref := refOf(catalog.AlertmanagerConfig.Kind, rejected.Object[len(catalog.AlertmanagerConfig.Kind)+1:]); !a.details(ref) {
			origins.Rejected[i].Err = fmt.Errorf("%s", hiddenDetails(ref))
		}
	}
	if out.Tried {
		out.Report = config.Route(routing.Question{Labels: given, At: c.Now().UTC(), All: true}, origins)
	} else {
		out.Report = config.Tree(c.Now().UTC(), origins)
	}
	out.Route = h.step(out.Route)
	hidden := 0
	out.InhibitRules = slices.DeleteFunc(out.InhibitRules, func(rule routing.InhibitRule) bool {
		if h.shows(rule.Origin) {
			return false
		}
		hidden++
		return true
	})
	if hidden > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("inhibit rules of AlertmanagerConfigs that you have no permission to get are hidden (%d)", hidden))
	}
	out.Unread = appendNew(out.Unread, a.unread...)
	return out, nil
}

// hidingRoutes leaves out what the caller may not know.
type hidingRoutes struct {
	asker *asker
	base  bool // the configuration begins with a Secret
}

func (h hidingRoutes) shows(o routing.Origin) bool {
	return o.Kind != catalog.AlertmanagerConfig.Kind || h.asker.details(explain.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// step leaves out what a route of an AlertmanagerConfig asks for that the caller may not get, and
// whom a receiver reaches that a Secret defines.
func (h hidingRoutes) step(s routing.Step) routing.Step {
	if !h.shows(s.Origin) {
		s.Matchers, s.Miss, s.Delivery, s.Routes = nil, nil, nil, nil
		return s
	}
	if d := s.Delivery; d != nil {
		ref, owned := ownedBy(d.Receiver.Name)
		if owned && !h.asker.details(ref) || !owned && h.base {
			for i := range d.Receiver.Integrations {
				d.Receiver.Integrations[i].To = ""
			}
		}
	}
	for i := range s.Routes {
		s.Routes[i] = h.step(s.Routes[i])
	}
	return s
}
