package live

import (
	"context"
	"time"
)

// Webhook returns a client of the webhook receiver in a pod, the program webhook of
// package programs.
func (p *Proxy) Webhook(namespace, pod string, port int) *Webhook {
	return &Webhook{base: p.base(namespace, pod, port)}
}

// Webhook is a client of one receiver.
type Webhook struct{ base string }

// Notification is a received notification.
type Notification struct {
	At       time.Time
	From     string // IP address of the Alertmanager
	Path     string // of the URL
	Receiver string
	Status   string // "firing" if any alert is, else "resolved"
	Alerts   []NotifiedAlert
}

// NotifiedAlert is an alert of a notification.
type NotifiedAlert struct {
	Status string // "firing" or "resolved"
	Labels map[string]string
}

// Notifications returns the received notifications, oldest first.
func (w *Webhook) Notifications(ctx context.Context) ([]Notification, error) {
	var list []Notification
	err := get(ctx, w.base+"/", &list)
	return list, err
}
