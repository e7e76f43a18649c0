package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/live"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

const (
	alertmanagerVersion = wellknown.DefaultAlertmanagerVersion
	alertmanagerImage   = "quay.io/prometheus/alertmanager:" + alertmanagerVersion
	webhookImage        = "firekeeper.local/webhook:e2e"
)

var alertmanagerLoaded = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	return errors.Join(prepared.LoadAlertmanager(ctx, alertmanagerImage), prepared.LoadPrograms(ctx, webhookImage, "webhook"))
})

// loadAlertmanagerImage loads the images of Alertmanager and of the webhook receiver.
func (n node) loadAlertmanagerImage(t *testing.T) {
	t.Helper()
	if err := alertmanagerLoaded(); err != nil {
		t.Fatal(err)
	}
}

// webhook starts a receiver of notifications in the namespace, the pod webhook.
func (s space) webhook(t *testing.T) {
	t.Helper()
	s.apply(t, s.fill(manifests(t, "webhook.yaml"), "WEBHOOK-IMAGE", webhookImage))
	s.in(t, "wait", "--for=condition=Ready", "pod/webhook", "--timeout=1m")
}

const mainMembers = "alertmanager=main"

// overTLS matches the metric of gossip received over TLS.
var overTLS = regexp.MustCompile(`(?m)^alertmanager_tls_transport_packet_bytes_received_total [1-9]`)

// alerting is a Prometheus and an Alertmanager in one namespace, and the namespace of a team that receives
// notifications.
type alerting struct {
	space
	team space
	sent map[string]int // expected notifications by "<alert> <status>"
}

// Fields of Alertmanager: replicas, clusterTLS, clusterPeerTimeout, alertmanagerConfigSelector,
// alertmanagerConfigNamespaceSelector; of Prometheus: alerting. Alerts arrive exactly once while pods and the operator
// are restarted. A changed route is live immediately, an invalid AlertmanagerConfig is rejected alone, silences
// survive, and a deleted Alertmanager leaves nothing behind.
func TestAlertmanager(t *testing.T) {
	n := start(t)
	n.loadAlertmanagerImage(t)
	t.Parallel()
	a := alerting{n.space(t, "alerts"), n.space(t, "alerts-team"), map[string]int{}}
	a.kubectl(t, "label", "namespace", a.team.name, "alerts="+a.name)
	o := a.operatorOf(t, "--config-reloader-cpu-limit=0", "--feature-gates=StatusForConfigurationResources=true")
	a.keyPair(t, "gossip")
	a.team.webhook(t)
	a.team.apply(t, manifests(t, "alerted.yaml"))
	a.apply(t, a.fill(manifests(t, "alertmanager.yaml"), "AM-VERSION", alertmanagerVersion))
	a.web(t, fmt.Sprintf("evaluationInterval: 1s, alerting: {alertmanagers: [{namespace: %s, name: alertmanager-operated, port: web}]}", a.name))
	a.rolledOut(t, "web", "prometheus-web-0")
	a.members(t, 1)
	a.workloadSays(t, "alertmanager/main", "Available=True Reconciled=True 1")
	a.team.boundTo(t, "alertmanagerconfig/team", "alertmanagers/main=True")

	a.kubectl(t, "-n", a.name, "scale", "alertmanager", "main", "--replicas=3")
	before := identities(a.members(t, 3))
	a.fires(t, "One")
	silence := a.silenced(t, "Quiet")
	a.routesAreLiveAtOnce(t)
	a.badConfigIsRejectedAlone(t)
	a.resolves(t, "One")
	pods, err := a.podsWith(t.Context(), mainMembers)
	if diff := cmp.Diff(before, identities(pods)); err != nil || diff != "" {
		t.Errorf("pods were restarted (%v): was -, is +\n%s", err, diff)
	}

	a.in(t, "delete", "pod", "alertmanager-main-1", "--wait=false")
	a.fires(t, "Two")
	a.receiveAlerts(t, a.members(t, 3))
	a.knowSilence(t, silence, 3)
	a.fires(t, "Three")
	a.resolves(t, "Three")
	a.killedDuring(t, o, step{name: "change a route", change: func(t *testing.T, _ space) { a.route(t, "killed") }})
	a.route(t, "started")
	o.start(t)
	a.membersRun(t, 3, "- started")
	a.fires(t, "Four")
	a.resolves(t, "Four")

	a.in(t, "patch", "alertmanager", "main", "--type=merge", "-p", `{"spec":{"replicas":2}}`)
	a.members(t, 2)
	a.workloadSays(t, "alertmanager/main", "Available=True Reconciled=True 2")
	a.knowSilence(t, silence, 2)
	a.fires(t, "Five")
	a.allWasSent(t)
	a.alertmanagerIsDeleted(t)
}

// receiveAlerts waits until Prometheus sends alerts to exactly these pods.
func (a alerting) receiveAlerts(t *testing.T, pods []corev1.Pod) {
	t.Helper()
	var want []string
	for _, p := range pods {
		want = append(want, p.Status.PodIP+":9093")
	}
	slices.Sort(want)
	until(t, "Prometheus sends to all members", patience, func(ctx context.Context) (bool, error) {
		got, err := a.proxy.Prometheus(a.name, "prometheus-web-0", 9090).Alertmanagers(ctx)
		slices.Sort(got)
		return slices.Equal(got, want), errors.Join(err, fmt.Errorf("it sends to %q, want %q", got, want))
	})
}

// member returns the Alertmanager in a pod.
func (a alerting) member(i int) *live.Alertmanager {
	return a.proxy.Alertmanager(a.name, fmt.Sprintf("alertmanager-main-%d", i), 9093)
}

// members waits until n pods are ready, form a cluster and have the team's route, and returns the pods.
func (a alerting) members(t *testing.T, n int) []corev1.Pod {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("alertmanager-main-%d", i))
	}
	pods := a.rolledOutWith(t, mainMembers, names...)
	for i := range n {
		until(t, "members that "+names[i]+" knows", patience, func(ctx context.Context) (bool, error) {
			status, err := a.member(i).Status(ctx)
			known := max(1, len(status.Cluster.Peers)) // a single one does not gossip
			return known == n, errors.Join(err, fmt.Errorf("%d of %d", known, n))
		})
	}
	if n > 1 && !overTLS.MatchString(a.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+a.name+"/pods/"+names[0]+":9093/proxy/metrics")) {
		t.Error("the members do not gossip over TLS")
	}
	a.membersRun(t, n, "receiver: "+a.team.name+"/team/webhook")
	return pods
}

// membersRun waits until n members run a configuration that contains the text.
func (a alerting) membersRun(t *testing.T, n int, text string) {
	t.Helper()
	for i := range n {
		until(t, fmt.Sprintf("%q in member %d of %s", text, i, a.name), patience, func(ctx context.Context) (bool, error) {
			status, err := a.member(i).Status(ctx)
			return strings.Contains(status.Config.Original, text), err
		})
	}
}

// fires makes an alert of the team fire and waits for the notification.
func (a alerting) fires(t *testing.T, alert string) {
	t.Helper()
	a.alert(t, alert, "vector(1)")
	a.notified(t, alert+" firing")
}

// resolves resolves an alert and waits for the notification. It is only for alerts that all members have received at
// about the same time: members whose group intervals differ may send the firing alert again.
func (a alerting) resolves(t *testing.T, alert string) {
	t.Helper()
	a.alert(t, alert, "vector(1) < 0")
	a.notified(t, alert+" resolved")
}

// alert creates the rule of an alert. The rule of a resolved alert is kept, because Prometheus must send the
// resolution.
func (a alerting) alert(t *testing.T, alert, expr string) {
	t.Helper()
	a.apply(t, fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: %s, namespace: NAMESPACE}
spec: {groups: [{name: %s, rules: [{alert: %s, expr: %q, labels: {namespace: %s}}]}]}
`, strings.ToLower(alert), alert, alert, expr, a.team.name))
}

// received counts the notifications that the team received, by "<alert> <status>".
func (a alerting) received(ctx context.Context) (map[string]int, error) {
	list, err := a.proxy.Webhook(a.team.name, "webhook", 8080).Notifications(ctx)
	out := map[string]int{}
	for _, n := range list {
		for _, alert := range n.Alerts {
			out[alert.Labels["alertname"]+" "+alert.Status]++
		}
	}
	return out, err
}

// notified waits for a notification, "<alert> <status>".
func (a alerting) notified(t *testing.T, what string) {
	t.Helper()
	a.sent[what]++
	took := until(t, "notification "+what, patience, func(ctx context.Context) (bool, error) {
		received, err := a.received(ctx)
		return received[what] > 0, errors.Join(err, fmt.Errorf("there were %v", received))
	})
	t.Logf("%s arrived after %s", what, took.Round(10*time.Millisecond))
}

// allWasSent checks that every expected notification was received, and no other. Alertmanager sends at least once: on a busy
// node, members that reload their routes may not have heard yet what another one has sent. Members that do not gossip
// would send each notification as often as there are members.
func (a alerting) allWasSent(t *testing.T) {
	t.Helper()
	received, err := a.received(t.Context())
	again := 0
	for notification, n := range received {
		if want := a.sent[notification]; want > 0 && n > want {
			again += n - want
			received[notification] = want
		}
	}
	if diff := cmp.Diff(a.sent, received); err != nil || diff != "" || again > 2 {
		t.Errorf("notifications (%v), %d sent again: want -, got +\n%s", err, again, diff)
	}
}

// silenced creates a silence at one member, and makes the alert fire once all members have the silence.
func (a alerting) silenced(t *testing.T, alert string) (id string) {
	t.Helper()
	id, err := a.member(0).Silence(t.Context(), "alertname", alert, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	a.knowSilence(t, id, 3)
	a.alert(t, alert, "vector(1)")
	return id
}

// knowSilence waits until that many members have a silence.
func (a alerting) knowSilence(t *testing.T, id string, members int) {
	t.Helper()
	for i := range members {
		until(t, fmt.Sprintf("silence in member %d", i), patience, func(ctx context.Context) (bool, error) {
			ids, err := a.member(i).Silenced(ctx)
			return slices.Contains(ids, id), err
		})
	}
}

// route changes the team's route; the configuration then contains "- <label>".
func (a alerting) route(t *testing.T, label string) {
	t.Helper()
	a.team.in(t, "patch", "alertmanagerconfig", "team", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"route":{"groupBy":["alertname",%q]}}}`, label))
}

// routesAreLiveAtOnce changes the route several times and measures the time until all members run it.
func (a alerting) routesAreLiveAtOnce(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(latencySpacing)
	defer tick.Stop()
	var took []time.Duration
	for i := range latencySamples() {
		<-tick.C
		label, began := fmt.Sprintf("change_%d", i), time.Now()
		a.route(t, label)
		a.membersRun(t, 3, "- "+label)
		took = append(took, time.Since(began).Round(10*time.Millisecond))
	}
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	t.Logf("from the start of kubectl until all three members run a changed route: median %s, worst of %d %s", median, latencySamples(), worst)
	if median > latencyLimit {
		t.Errorf("the median change took %s, want at most %s", median, latencyLimit)
	}
}

// badConfigIsRejectedAlone adds an AlertmanagerConfig with an invalid URL, changes another one, and deletes the invalid
// one.
func (a alerting) badConfigIsRejectedAlone(t *testing.T) {
	t.Helper()
	a.team.apply(t, `
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: bad, namespace: NAMESPACE}
spec:
  route: {receiver: nowhere}
  receivers: [{name: nowhere, webhookConfigs: [{urlSecret: {name: webhook, key: missing}}]}]
`)
	a.team.boundTo(t, "alertmanagerconfig/bad", "alertmanagers/main=False")
	until(t, "Event about the bad AlertmanagerConfig", patience, func(context.Context) (bool, error) {
		got := a.team.in(t, "get", "events", "--field-selector=involvedObject.name=bad,reason=InvalidConfiguration", "-o",
			`jsonpath={range .items[*]}{.related.kind}/{.related.name} {.message} {end}`)
		return strings.Contains(got, "Alertmanager/main") && strings.Contains(got, "webhookConfigs[0].urlSecret"), fmt.Errorf("Events are about %q", got)
	})
	a.route(t, "beside")
	a.membersRun(t, 3, "- beside")
	for i := range 3 {
		if status, err := a.member(i).Status(t.Context()); err != nil || strings.Contains(status.Config.Original, "nowhere") {
			t.Errorf("member %d runs the bad AlertmanagerConfig (%v):\n%s", i, err, status.Config.Original)
		}
	}
	a.team.boundTo(t, "alertmanagerconfig/team", "alertmanagers/main=True")
	a.workloadSays(t, "alertmanager/main", "Available=True Reconciled=True 3")
	a.team.in(t, "delete", "alertmanagerconfig", "bad")
}

// alertmanagerIsDeleted deletes the Alertmanager and checks that Prometheus keeps working.
func (a alerting) alertmanagerIsDeleted(t *testing.T) {
	t.Helper()
	a.in(t, "delete", "alertmanager", "main", "--wait=true")
	a.team.boundTo(t, "alertmanagerconfig/team", "")
	a.nothingNamed(t, "alertmanager")
	a.says(t, "web", conditions, "Available=True Reconciled=True")
}

// Fields of Alertmanager: web.tlsConfig, web.httpConfig, configSecret, configMaps. With TLS on the port, probes pass
// and changes are loaded, also of a template that the user mounts. An invalid template shows in the condition
// ConfigApplied, with redacted details.
func TestAlertmanagerWebTLS(t *testing.T) {
	long(t)
	n := start(t)
	n.loadAlertmanagerImage(t)
	t.Parallel()
	s := n.space(t, "alertmanager-tls")
	s.operatorOf(t, "--config-reloader-cpu-limit=0")
	s.keyPair(t, "web-tls")
	s.apply(t, s.fill(manifests(t, "alertmanager_tls.yaml"), "AM-VERSION", alertmanagerVersion))
	s.rolledOutWith(t, "alertmanager=tls", "alertmanager-tls-0")
	server := s.proxy.Alertmanager(s.name, "https:alertmanager-tls-0", 9093)
	for _, name := range []string{"first", "second"} {
		s.in(t, "patch", "secret", "routes", "--type=merge", "-p", fmt.Sprintf(
			`{"stringData":{"alertmanager.yaml":"route: {receiver: %[1]s}\ntemplates: [/etc/alertmanager/configmaps/texts/*.tmpl]\nreceivers: [{name: %[1]s}]\n"}}`, name))
		until(t, "route to "+name+" over TLS", patience, func(ctx context.Context) (bool, error) {
			status, err := server.Status(ctx)
			return strings.Contains(status.Config.Original, "receiver: "+name), err
		})
	}
	if _, err := s.proxy.Alertmanager(s.name, "alertmanager-tls-0", 9093).Status(t.Context()); err == nil {
		t.Error("it answers without TLS")
	}
	s.workloadSays(t, "alertmanager/tls", "Available=True Reconciled=True 1")
	for _, change := range []struct{ text, want string }{
		{`{{ define \"first\" }}hush`, "False ConfigurationRejected .*a template does not parse"},
		{`{{ define \"second\" }}hush{{ end }}`, "True AllPodsApplied "},
	} {
		s.in(t, "patch", "configmap", "texts", "--type=merge", "-p", `{"data":{"a.tmpl":"`+change.text+`"}}`)
		took := until(t, "ConfigApplied is "+change.want, patience, func(context.Context) (bool, error) {
			got := s.in(t, "get", "alertmanager", "tls", "-o", `jsonpath={range .status.conditions[?(@.type=="ConfigApplied")]}{.status} {.reason} {.message}{end}`)
			if strings.Contains(got, "hush") {
				t.Errorf("it quotes the template: %s", got)
			}
			return regexp.MustCompile("(?s)^" + change.want).MatchString(got), fmt.Errorf("it is %s", got)
		})
		t.Logf("a changed template: %q after %s", change.want, took.Round(10*time.Millisecond))
	}
}
