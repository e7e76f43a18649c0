package web

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// answered calls ask with the current Answers.
func answered[T any](h *Handler, ask func(insight.Answers) (T, error)) (any, error) {
	a, err := h.Answers()
	if err != nil {
		return nil, err
	}
	return ask(a)
}

func (h *Handler) overview(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Overview, error) {
		return a.Overview(q.Context(), q.rights, insight.OverviewQuery{
			Page: q.query.page(), Level: insight.Level(q.query.string("level")), Kind: q.query.string("kind"), Namespace: q.query.string("namespace"),
		})
	})
}

func (h *Handler) workload(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Workload, error) { return a.Workload(q.Context(), q.rights, q.object) })
}

func (h *Handler) sources(q *request) (any, error) {
	of := insight.SourceQuery{Page: q.query.page(), State: status.State(q.query.string("state")), Kind: q.query.string("kind")}
	return answered(h, func(a insight.Answers) (*insight.Sources, error) {
		return a.Sources(q.Context(), q.rights, q.object, of)
	})
}

func (h *Handler) rollout(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Rollout, error) {
		return a.Rollout(q.Context(), q.rights, q.object, q.query.page())
	})
}

func (h *Handler) config(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Config, error) {
		return a.Config(q.Context(), q.rights, q.object, insight.ConfigQuery{Page: q.query.page()})
	})
}

func (h *Handler) explain(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (any, error) { return a.Explain(q.Context(), q.rights, q.object) })
}

func (h *Handler) objects(q *request) (any, error) {
	of := insight.ObjectQuery{Page: q.query.page(), Row: catalog.Of(q.query.string("kind")), Namespace: q.query.string("namespace"), State: status.State(q.query.string("state"))}
	return answered(h, func(a insight.Answers) (*insight.ObjectList, error) { return a.Objects(q.Context(), q.rights, of) })
}

func (h *Handler) targets(q *request) (any, error) {
	of := q.query.targets()
	of.Of = q.object
	return answered(h, func(a insight.Answers) (*insight.Targets, error) { return a.Targets(q.Context(), q.rights, of) })
}

func (h *Handler) target(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Trace, error) {
		return a.Target(q.Context(), q.rights, q.object, q.query.string("job"), q.PathValue("id"), q.query.string("source"))
	})
}

func (h *Handler) pod(q *request) (any, error) {
	of := q.query.targets()
	of.Pod = q.object.NamespacedName
	return answered(h, func(a insight.Answers) (*insight.Targets, error) { return a.Targets(q.Context(), q.rights, of) })
}

func (h *Handler) routing(q *request) (any, error) {
	return answered(h, func(a insight.Answers) (*insight.Routes, error) {
		return a.Routes(q.Context(), q.rights, types.NamespacedName(q.object.NamespacedName), q.query.strings("label"))
	})
}
