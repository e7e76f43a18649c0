package admission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
)

func TestValidateAlertmanagerConfigs(t *testing.T) {
	const head = "metadata: {name: a, namespace: demo}\nspec:\n  receivers: [{name: r}]\n"
	for name, tc := range map[string]struct{ spec, alpha, beta string }{
		"good":          {"  route: {receiver: r, routes: [{matchers: [{name: a, value: b}], continue: true}]}", "", ""},
		"a newer field": {"  newer: 1\n  route: {receiver: r}", "", ""},
		"no route":      {"", "", ""},
		"no such receiver": {"  route: {receiver: nobody}",
			`spec.route.receiver: there is no receiver "nobody"; there is r`, `spec.route.receiver: there is no receiver "nobody"; there is r`},
		"in a child": {"  route: {receiver: r, routes: [{receiver: r}, {routes: [{receiver: x}]}]}",
			`spec.route.routes[1].routes[0].receiver: there is no receiver "x"; there is r`, `spec.route.routes[1].routes[0].receiver: there is no receiver "x"; there is r`},
		"a child with a wrong field": {"  route: {receiver: r, routes: [{recevier: r}]}",
			`spec.route.routes[0].recevier: unknown field, did you mean "receiver"?`, `spec.route.routes[0].recevier: unknown field, did you mean "receiver"?`},
		"a child with a field in the wrong case": {"  route: {receiver: r, routes: [{Receiver: r}]}",
			`spec.route.routes[0].Receiver: unknown field, did you mean "receiver"?`, `spec.route.routes[0].Receiver: unknown field, did you mean "receiver"?`},
		"receiver twice": {"  route: {receiver: r}", "", ""},
		"type":           {"  route: [r]", "spec.route: want an object, got a list", "spec.route: want an object, got a list"},
		"all faults": {"  route: {receiver: r, routes: [{receiver: x}, {muteTimeIntervals: [z]}]}",
			"spec.route.routes[0].receiver: there is no receiver \"x\"; there is r\nspec.route.routes[1].muteTimeIntervals[0]: there is no time interval \"z\"",
			"spec.route.routes[0].receiver: there is no receiver \"x\"; there is r\nspec.route.routes[1].muteTimeIntervals[0]: there is no time interval \"z\""},
		"matcher": {"  route: {receiver: r, matchers: [{name: a, value: b, matchType: '=='}]}",
			`spec.route.matchers[0].matchType: "==" is not one of =, !=, =~, !~`, `spec.route.matchers[0].matchType: "==" is not one of =, !=, =~, !~`},
	} {
		t.Run(name, func(t *testing.T) {
			for version, want := range map[string]string{"v1alpha1": tc.alpha, "v1beta1": tc.beta} {
				r := ask(t, New(Options{}), ValidateAlertmanagerConfigsPath, request(toJSON(t, head+tc.spec), "alertmanagerconfigs "+version))
				if got := causes(t, r); got != want {
					t.Errorf("%s: got %s, want %s", version, got, want)
				}
				if want != "" && r.Result.Details.Name != "alertmanagerconfigs" {
					t.Errorf("details.name %q", r.Result.Details.Name)
				}
			}
		})
	}
}

// Faults of time intervals have the field names of the version of the request.
func TestTimeIntervalsOfBothVersions(t *testing.T) {
	for version, field := range map[string]string{"v1alpha1": "muteTimeIntervals", "v1beta1": "timeIntervals"} {
		manifest := "metadata: {name: a}\nspec: {" + field + ": [{name: night, timeIntervals: [{times: [{startTime: '25:00', endTime: '26:00'}]}]}]}"
		got := causes(t, ask(t, New(Options{}), ValidateAlertmanagerConfigsPath, request(toJSON(t, manifest), "alertmanagerconfigs "+version)))
		if !strings.HasPrefix(got, "spec."+field+"[0].timeIntervals[0].times[0].") {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// A rejection does not reveal a password in a URL.
func TestNoSecretsInRefusals(t *testing.T) {
	manifest := "metadata: {name: a}\nspec: {route: {receiver: r}, receivers: [{name: r, webhookConfigs: [{url: 'ftp://user:hunter2@host/'}]}]}"
	got := causes(t, ask(t, New(Options{}), ValidateAlertmanagerConfigsPath, request(toJSON(t, manifest), "alertmanagerconfigs v1alpha1")))
	if !strings.HasPrefix(got, "spec.receivers[0].webhookConfigs[0].url") || strings.Contains(got, "hunter2") {
		t.Error(got)
	}
}

// Deeply nested routes and large numbers of routes are checked in bounded time.
func TestHostileRoutes(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"routes":[`, levels) + "{}" + strings.Repeat("]}", levels)
	}
	var wide []string
	for i := range 1000 {
		wide = append(wide, fmt.Sprintf(`{"receiver":"r","matchers":[{"name":"a","value":"(%d{1000}){1000}","matchType":"=~"}]}`, i))
	}
	for name, routes := range map[string]string{
		"5,000 levels": nested(5000), "100,000 levels": nested(100_000), "60 levels of much": strings.Repeat(`{"routes":[`, 60) + strings.Join(wide, ",") + strings.Repeat("]}", 60),
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"v1alpha1", "v1beta1"} {
				body := `{"request":{"uid":"1","resource":{"group":"monitoring.coreos.com","version":"` + version + `","resource":"alertmanagerconfigs"},"object":` +
					`{"metadata":{"name":"a"},"spec":{"receivers":[{"name":"r"}],"route":{"receiver":"r","routes":[` + routes + `]}}}}}`
				begin := cputime.Now()
				if w := post(t, New(Options{}), ValidateAlertmanagerConfigsPath, strings.NewReader(body)); w.Code != 200 {
					t.Errorf("%d %.200s", w.Code, w.Body)
				}
				if took := cputime.Since(begin); took > time.Minute {
					t.Errorf("%s took %s", version, took)
				}
			}
		})
	}
}
