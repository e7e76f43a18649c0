package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

const (
	alertmanagerPod  = "alertmanager-demo-0"
	alertmanagerPort = 9093
	webhookPort      = 8080
)

//go:embed webhook.yaml
var webhook string

// alert makes a rule fire and shows that its alert arrives: in the webhook receiver if its image can be loaded, else in
// Alertmanager.
func (p *place) alert(ctx context.Context, proxy *live.Proxy) error {
	if p.ownNodes() {
		if _, err := p.feed(ctx, webhook, "apply", "-f", "-"); err != nil {
			return err
		}
		if _, err := p.run(ctx, "-n", namespace, "wait", "--for=condition=Ready", "pod/webhook", "--timeout=1m"); err != nil {
			return err
		}
	}
	say("waiting for pod %s", alertmanagerPod)
	if err := p.ready(ctx, alertmanagerPod); err != nil {
		return err
	}
	run := strconv.FormatInt(time.Now().UnixNano(), 36) // unique, so that no earlier run has sent the alert
	say("adding a rule whose alert fires")
	if _, err := p.feed(ctx, fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: arrives, namespace: %s}
spec: {groups: [{name: arrives, rules: [{alert: SampleUp%s, expr: 'up{job="sample"} == 1', labels: {severity: info}}]}]}
`, namespace, run), "apply", "-f", "-"); err != nil {
		return err
	}
	if !p.ownNodes() {
		return p.inAlertmanager(ctx, proxy, "SampleUp"+run)
	}
	return p.inReceiver(ctx, proxy, "SampleUp"+run)
}

// inAlertmanager waits until Alertmanager has received an alert.
func (p *place) inAlertmanager(ctx context.Context, proxy *live.Proxy, name string) error {
	server := proxy.Alertmanager(namespace, alertmanagerPod, alertmanagerPort)
	took, err := live.Until(ctx, 3*time.Minute, func(ctx context.Context) (bool, error) {
		alerts, err := server.Alerts(ctx)
		for _, a := range alerts {
			if a.Labels["alertname"] == name {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("alert %s is not in Alertmanager: %w", name, err)
	}
	say("alert: in Alertmanager after %.2f s", took.Seconds())
	return nil
}

// inReceiver waits until an alert has arrived and prints the line that the receiver logged for it.
func (p *place) inReceiver(ctx context.Context, proxy *live.Proxy, name string) error {
	receiver := proxy.Webhook(namespace, "webhook", webhookPort)
	took, err := live.Until(ctx, 3*time.Minute, func(ctx context.Context) (bool, error) {
		list, err := receiver.Notifications(ctx)
		for _, n := range list {
			for _, a := range n.Alerts {
				if a.Labels["alertname"] == name {
					return true, nil
				}
			}
		}
		return false, errors.Join(err, fmt.Errorf("%d notifications", len(list)))
	})
	if err != nil {
		return fmt.Errorf("alert %s did not arrive: %w", name, err)
	}
	log, err := p.run(ctx, "-n", namespace, "logs", "webhook")
	if err != nil {
		return err
	}
	say("alert: from the rule to the receiver in %.2f s, whose log says", took.Seconds())
	for line := range strings.Lines(log) {
		if strings.Contains(line, name) {
			fmt.Printf("         %s\n", strings.TrimSpace(line))
		}
	}
	return nil
}
