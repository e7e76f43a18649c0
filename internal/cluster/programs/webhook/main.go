// Command webhook receives the notifications of Alertmanagers: it prints a line for every
// alert in them, and GET / returns the notifications as a JSON list, oldest first.
//
//	webhook [address]    :8080 when none is given
//
// An alert's line is "<status> <alertname> <labels> receiver=<name> from=<address>".
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// kept is how many notifications are listed; older ones are forgotten.
	kept = 10_000
	// maxBody is more than a notification of some thousand alerts has.
	maxBody = 16 << 20
)

// notification is what an Alertmanager sends to a webhook, and how it came.
type notification struct {
	At       time.Time `json:"at"`
	From     string    `json:"from"` // IP address
	Path     string    `json:"path"`
	Receiver string    `json:"receiver"`
	Status   string    `json:"status"` // "firing" when one alert is
	Alerts   []alert   `json:"alerts"`
}

type alert struct {
	Status      string            `json:"status"` // "firing" or "resolved"
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// line is the alert as it is printed.
func (a alert) line(n notification) string {
	words := []string{a.Status, a.Labels["alertname"]}
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		if name != "alertname" {
			words = append(words, fmt.Sprintf("%s=%q", name, a.Labels[name]))
		}
	}
	return strings.Join(append(words, "receiver="+n.Receiver, "from="+n.From), " ")
}

// inbox holds what was received.
type inbox struct {
	mu   sync.Mutex
	list []notification
}

func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		i.show(w)
	case http.MethodPost:
		i.receive(w, r)
	default:
		http.Error(w, "GET or POST", http.StatusMethodNotAllowed)
	}
}

func (i *inbox) receive(w http.ResponseWriter, r *http.Request) {
	var n notification
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&n); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n.At, n.Path = time.Now(), r.URL.Path
	n.From, _, _ = net.SplitHostPort(r.RemoteAddr)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, n)
	i.list = i.list[max(0, len(i.list)-kept):]
	for _, a := range n.Alerts {
		fmt.Println(a.line(n))
	}
}

func (i *inbox) show(w http.ResponseWriter) {
	i.mu.Lock()
	list := append([]notification{}, i.list...) // "[]", not "null"
	i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // the client has gone
}

func main() {
	address := ""
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	err := http.ListenAndServe(cmp.Or(address, ":8080"), &inbox{})
	fmt.Fprintln(os.Stderr, "webhook:", err)
	os.Exit(1)
}
