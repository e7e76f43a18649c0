package live

import (
	"bytes"
	"context"
	"encoding/json"
	"time"
)

// Alertmanager returns a client of the Alertmanager in a pod.
func (p *Proxy) Alertmanager(namespace, pod string, port int) *Alertmanager {
	return &Alertmanager{base: p.base(namespace, pod, port)}
}

// Alertmanager is a client of one Alertmanager.
type Alertmanager struct{ base string }

// Alert is an alert that an Alertmanager has received.
type Alert struct {
	Labels, Annotations map[string]string
	GeneratorURL        string
}

// Alerts returns the firing alerts.
func (a *Alertmanager) Alerts(ctx context.Context) ([]Alert, error) {
	var alerts []Alert
	err := get(ctx, a.base+"/api/v2/alerts", &alerts)
	return alerts, err
}

// AlertmanagerStatus is the status of an Alertmanager.
type AlertmanagerStatus struct {
	// Config is the loaded configuration, without secrets and URLs.
	Config struct{ Original string }
	// Cluster has this member and its peers. It is empty if clustering is off.
	Cluster struct {
		Peers []struct{ Name, Address string }
	}
}

// Status returns the status.
func (a *Alertmanager) Status(ctx context.Context) (AlertmanagerStatus, error) {
	var status AlertmanagerStatus
	err := get(ctx, a.base+"/api/v2/status", &status)
	return status, err
}

// Silence silences alerts with a label for a time and returns the ID of the silence.
func (a *Alertmanager) Silence(ctx context.Context, label, value string, length time.Duration) (id string, err error) {
	type matcher struct {
		Name    string `json:"name"`
		Value   string `json:"value"`
		IsRegex bool   `json:"isRegex"`
	}
	now := time.Now()
	body, err := json.Marshal(struct {
		Matchers  []matcher `json:"matchers"`
		StartsAt  time.Time `json:"startsAt"`
		EndsAt    time.Time `json:"endsAt"`
		CreatedBy string    `json:"createdBy"`
		Comment   string    `json:"comment"`
	}{[]matcher{{Name: label, Value: value}}, now, now.Add(length), "firekeeper", "test"})
	if err != nil {
		return "", err
	}
	var answer struct{ SilenceID string }
	err = send(ctx, "POST", a.base+"/api/v2/silences", bytes.NewReader(body), &answer)
	return answer.SilenceID, err
}

// Silenced returns the IDs of the active silences.
func (a *Alertmanager) Silenced(ctx context.Context) ([]string, error) {
	var list []struct {
		ID     string
		Status struct{ State string }
	}
	if err := get(ctx, a.base+"/api/v2/silences", &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range list {
		if s.Status.State == "active" {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

// Fire sends an alert like a Prometheus. It fires until Alertmanager's resolve_timeout, five minutes by default.
func (a *Alertmanager) Fire(ctx context.Context, labels map[string]string) error {
	body, err := json.Marshal([]map[string]any{{"labels": labels}})
	if err != nil {
		return err
	}
	return send(ctx, "POST", a.base+"/api/v2/alerts", bytes.NewReader(body), nil)
}
