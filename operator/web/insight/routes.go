package insight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// Routes implements [Answers]. It compiles the current routes.
func (c *Cluster) Routes(ctx context.Context, r access.Rights, am types.NamespacedName, labels []string) (*Routes, error) {
	w, e, err := c.workload(ctx, Object{catalog.Alertmanager, am})
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
	text, rules, release, err := c.routesText(ctx, made.plan.WriteConfig)
	if err != nil {
		return nil, err
	}
	defer release()
	origins := routing.OriginsOf(made.object.(*v1.Alertmanager), w.objects[catalog.AlertmanagerConfig], made.results)
	config, err := routing.Parse(text)
	if err != nil {
		return nil, notWritten(e, err)
	}
	a, out := w.checker(ctx, r), &Routes{Alertmanager: e.ref, Tried: len(given) > 0, Unread: slices.Clone(w.unread)}
	h := &hidingRoutes{caller: a, base: made.mask.InSecret(), tried: out.Tried}
	for i, rejected := range origins.Rejected {
		if ref := refOf(catalog.AlertmanagerConfig.Kind, rejected.Object[len(catalog.AlertmanagerConfig.Kind)+1:]); !a.MayGet(ref) {
			origins.Rejected[i].Err = fmt.Errorf("%s", access.Hidden(ref))
		}
	}
	if out.Tried {
		out.Report, err = config.RouteWithin(routeLimits, routing.Question{Labels: given, At: c.Now().UTC(), All: true}, origins)
	} else {
		out.Report, err = config.TreeWithin(routeLimits, c.Now().UTC(), origins)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not shown here: %v; operator route shows it", err))
	}
	h.hide(out, ruleOwners(rules, made))
	out.Unread = access.AppendNotes(out.Unread, a.Unread...)
	return out, nil
}

// routeLimits are the limits of a response about the AlertmanagerConfigs of all namespaces.
var routeLimits = routing.Limits{Matching: 300_000_000, Bytes: 8 << 20}

// Limits of the regular expressions of a configuration, which is loaded for a response as Alertmanager does.
const (
	// maxRegexpObjects is the limit in multiples of that of one object.
	maxRegexpObjects = 4
	// regexpWeight is the memory of compiled expressions per unit of [regexcost.Of].
	regexpWeight = 50
)

// routesText returns the configuration of an Alertmanager with the number of its inhibition rules, and reserves the memory to load it
// until release.
//
// Errors: 400 if it is too long, or its regular expressions are too large; [apierrors.IsTooManyRequests].
func (c *Cluster) routesText(ctx context.Context, write func(io.Writer) error) (text []byte, rules int, release func(), err error) {
	text, release, err = c.tree(ctx, write)
	if long := (*longError)(nil); errors.As(err, &long) {
		return nil, 0, nil, apierrors.NewBadRequest(long.Error())
	}
	if err != nil {
		return nil, 0, nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return text, 0, release, nil // it cannot be loaded either, which is the better message
	}
	budget := regexcost.BudgetOf(maxRegexpObjects)
	if err := amconfig.CheckRegexps(&root, budget); err != nil {
		release()
		return nil, 0, nil, apierrors.NewBadRequest("the routes are not shown here: the regular expressions of all AlertmanagerConfigs together compile to too much; operator route shows them")
	}
	if more := regexpWeight * int64(budget.Spent()); more > int64(len(text)) {
		release()
		release, err = c.reserve(ctx, treeWeight*int64(len(text))+more)
	}
	return text, itemsOf(&root, string(amconfig.InhibitRules)), release, err
}

// itemsOf returns the number of items of a list in a document.
func itemsOf(root *yaml.Node, key string) int {
	if len(root.Content) == 0 {
		return 0
	}
	pairs := root.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if pairs[i].Value == key && value.Kind == yaml.SequenceNode {
			return len(value.Content)
		}
	}
	return 0
}

// hide removes the parts of an answer that the caller may not get, and adds notes about them. owners are
// the owners of the inhibit rules.
func (h *hidingRoutes) hide(out *Routes, owners []catalog.Ref) {
	out.Nearest = nil // would reveal that no hidden route matches
	out.Route = h.step(out.Route)
	out.InhibitRules = slices.DeleteFunc(out.InhibitRules, func(rule routing.InhibitRule) bool {
		return !h.shows(rule.Origin) || !h.showsRule(rule.Path, owners)
	})
	if h.unknown {
		out.Notes = append(out.Notes, "whether the alert matches the routes of AlertmanagerConfigs that you may not get is not shown, nor whether it then stays with the route above them")
	}
	hidden := 0 // regardless of whether they inhibit the alert, which would reveal their matchers
	for i := range owners {
		if !h.showsRule(fmt.Sprintf(rulePath, i), owners) {
			hidden++
		}
	}
	if hidden > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("inhibit rules of AlertmanagerConfigs that you have no permission to get are hidden (%d)", hidden))
	}
}

// hidingRoutes redacts the parts of a routing tree that the caller may not see.
type hidingRoutes struct {
	caller *access.Checker
	base   bool // the configuration is based on a Secret
	tried  bool // with the labels of an alert
	// unknown is true if the result for the alert depends on hidden routes.
	unknown bool
}

func (h *hidingRoutes) shows(o routing.Origin) bool {
	return o.Kind != catalog.AlertmanagerConfig.Kind || h.caller.MayGet(catalog.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// ruleOwners returns the AlertmanagerConfig of each inhibition rule, empty for the Alertmanager's
// own rules. It returns nil if the owners are ambiguous. Origins are not used, because they are
// matched by the contents of rules.
func ruleOwners(rules int, made made) []catalog.Ref {
	return configfile.AddedTo(made.object, becameOf(made.results)).Owners(string(amconfig.InhibitRules), rules)
}

// rulePath is the format of the path of an inhibition rule.
const rulePath = "inhibit_rules[%d]"

// showsRule reports whether the caller may see the inhibition rule at a path.
func (h *hidingRoutes) showsRule(path string, owners []catalog.Ref) bool {
	var at int
	if _, err := fmt.Sscanf(path, rulePath, &at); err != nil || at >= len(owners) {
		return false
	}
	return owners[at].Name == "" || h.caller.MayGet(owners[at])
}

// step redacts routes of AlertmanagerConfigs that the caller may not get, and the destinations of
// receivers that are defined in a Secret.
func (h *hidingRoutes) step(s routing.Step) routing.Step {
	if !h.shows(s.Origin) {
		s.Matchers, s.Matched, s.Miss, s.EndedBy, s.Delivery, s.Routes = nil, false, nil, "", nil, nil
		return s
	}
	if d := s.Delivery; d != nil {
		ref, owned := configfile.OwnerOf(d.Receiver.Name)
		if owned && !h.caller.MayGet(ref) || !owned && h.base {
			for i := range d.Receiver.Integrations {
				d.Receiver.Integrations[i].To = ""
			}
		}
	}
	hidden, taken := false, false
	for i := range s.Routes {
		hidden = hidden || !h.shows(s.Routes[i].Origin)
		s.Routes[i] = h.step(s.Routes[i])
		taken = taken || s.Routes[i].Matched
	}
	if h.tried && hidden && s.Matched {
		h.unknown = true
		if !taken { // the default receiver would reveal that no hidden route matches
			s.Delivery = nil
		}
	}
	return s
}
