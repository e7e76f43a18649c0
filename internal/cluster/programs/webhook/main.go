// Command webhook receives notifications from Alertmanagers. It prints a line for each of
// their alerts, and GET / returns the notifications as a JSON list, oldest first.
//
//	webhook [address]    default :8080
//
// The line of an alert is "<status> <alertname> <labels> receiver=<name> from=<address>".
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
	// kept is the maximum number of stored notifications; older ones are dropped.
	kept = 10_000
	// maxBody is larger than a notification of a few thousand alerts, in bytes.
	maxBody = 16 << 20
)

// notification is the webhook request of an Alertmanager, with time and origin.
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

// line returns the line to print for the alert.
func (a alert) line(n notification) string {
	words := []string{a.Status, a.Labels["alertname"]}
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		if name != "alertname" {
			words = append(words, fmt.Sprintf("%s=%q", name, a.Labels[name]))
		}
	}
	return strings.Join(append(words, "receiver="+n.Receiver, "from="+n.From), " ")
}

// inbox stores received notifications.
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
	_ = json.NewEncoder(w).Encode(list) // the client has disconnected
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
