package nearmiss

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// noPort returns a hint if none of the Services, or of the pods behind them, has the port.
func (v *View) noPort(s *Search, selected []service) []Hint {
	switch s.port.of {
	case servicePort:
		if slices.ContainsFunc(selected, func(svc service) bool { return slices.ContainsFunc(svc.portNames(), s.port.want.matches) }) {
			return v.noTargetPort(s, selected)
		}
		return v.noServicePort(s, selected)
	case containerName, containerNumber:
		return v.noContainerPort(s, selected)
	}
	return nil
}

// noServicePort returns a hint for a port name that no Service has.
func (v *View) noServicePort(s *Search, selected []service) []Hint {
	want := s.port.want.text
	var has, named []string
	for _, svc := range selected[:min(len(selected), maxListed)] {
		has = append(has, svc.String()+" has "+servicePorts(svc))
		named = append(named, svc.portNames()...)
	}
	var meant []string
	number, err := strconv.ParseInt(want, 10, 32)
	called := ""
	for _, svc := range selected {
		if svc.byAddresses() {
			continue
		}
		for _, p := range svc.spec.Ports {
			if !v.meant(svc, p, want, int32(number), err == nil) {
				continue
			}
			if err != nil && p.Name != "" {
				called = fmt.Sprintf("; %s is the name of the port in the containers, and %s that in the Service", want, p.Name)
			}
			if p.Name == "" {
				return []Hint{{Code: NoTarget, Field: s.port.field, Message: fmt.Sprintf(
					"%q is the name of a port of a Service; port %d of %s has no name: name it %s in the Service, or write targetPort: %s here",
					want, p.Port, svc, nameFor(want), targetOf(p))}}
			}
			meant = append(meant, s.portWord()+": "+p.Name)
			if target, ok := v.declared(svc, p); ok && s.name == nil && err == nil {
				meant = append(meant, fmt.Sprintf("targetPort: %d", target))
			}
		}
	}
	message := fmt.Sprintf("no selected Service has a port named %q; %s", want, and(has))
	switch {
	case len(selected) == 1 && err != nil:
		message = fmt.Sprintf("%s has no port named %q; it has %s", selected[0], want, servicePorts(selected[0]))
	case err == nil:
		message = fmt.Sprintf("%q is the name of a port of a Service; %s", want, and(has))
	}
	if only := v.withoutService(s, selected); only != "" && len(meant) == 0 {
		message += only
	} else {
		message += called + s.remedy(want, selected, named, meant)
	}
	return []Hint{{Code: NoTarget, Field: s.port.field, Message: message}}
}

// withoutService returns what to do about a port that containers have and no port of the Services leads to, as the end of a
// message; empty if there is no such port.
func (v *View) withoutService(s *Search, selected []service) string {
	if !s.forServices() || s.name != nil {
		return ""
	}
	for _, svc := range selected {
		for _, b := range v.behind(svc) {
			for _, c := range b.ports {
				number := strconv.Itoa(int(c.ContainerPort))
				if c.Name != s.port.want.text && number != s.port.want.text {
					continue
				}
				target := number
				if c.Name == s.port.want.text {
					target = c.Name
				}
				return fmt.Sprintf(", and no port of it leads to port %s of the pods of %s: add a port with targetPort: %s to the Service, or write targetPort: %[3]s here", containerPorts([]corev1.ContainerPort{c}), names(candidates([]pods{b}, ofPods)), target)
			}
		}
	}
	return ""
}

// remedy returns what to write instead of the name of a port that no Service has, as the end of a
// message. named are the names of their ports, meant the fields that lead to what is probably meant.
func (s *Search) remedy(want string, selected []service, named, meant []string) (text string) {
	similar := manifest.Similar(want, named)
	if i := slices.IndexFunc(named, func(name string) bool { return within(name, want) || within(want, name) }); similar == "" && i >= 0 {
		similar = named[i]
	}
	switch {
	case len(meant) > 0:
		text = ": did you mean " + or(compact(meant)) + "?"
	case similar != "":
		text = fmt.Sprintf(": did you mean %s: %s?", s.portWord(), similar)
	case len(compact(named)) == 1 && named[0] != "" && s.others[named[0]]:
		text = ", which another endpoint scrapes: remove this one, or add the port to the Service"
	case len(compact(named)) == 1 && named[0] != "":
		text = fmt.Sprintf(": write %s: %s", s.portWord(), named[0])
	case len(selected) == 1 && selected[0].byAddresses() && len(named) == 1 && named[0] == "":
		text = fmt.Sprintf(": name it %s in its Endpoints", nameFor(want))
		if !slices.ContainsFunc(selected[0].spec.Ports, func(p corev1.ServicePort) bool { return p.Name == want }) {
			text += " and in the Service"
		}
	case len(selected) == 1 && len(selected[0].spec.Ports) == 1 && named[0] == "":
		text = fmt.Sprintf(": name it %s in the Service", nameFor(want))
	}
	return text
}

// within reports whether a name is one of the words of another: metrics of http-metrics.
func within(name, part string) bool {
	return part != "" && slices.Contains(strings.Split(name, "-"), part)
}

// portWord returns the last part of the field.
func (s *Search) portWord() string {
	if s.port.of == containerName && s.forServices() {
		return "targetPort"
	}
	return "port"
}

// meant reports whether a word is the number of a port of a Service, or its name in a container,
// instead of the port name.
func (v *View) meant(svc service, p corev1.ServicePort, want string, number int32, isNumber bool) bool {
	if isNumber && (p.Port == number || p.TargetPort.IntVal == number) || p.TargetPort.StrVal == want {
		return true
	}
	for _, b := range v.behind(svc) {
		if c, ok := containerPort(b, p); ok && (c.Name == want || isNumber && c.ContainerPort == number) {
			return true
		}
	}
	return false
}

// declared returns the number of the container port behind a port of a Service.
func (v *View) declared(svc service, p corev1.ServicePort) (int32, bool) {
	for _, b := range v.behind(svc) {
		if c, ok := containerPort(b, p); ok {
			return c.ContainerPort, true
		}
	}
	return 0, false
}

// compact removes duplicates.
func compact(words []string) (out []string) {
	seen := make(map[string]bool, len(words))
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// nameFor returns a suggested name for an unnamed port. A number is not a valid name.
func nameFor(want string) string {
	if _, err := strconv.Atoi(want); err == nil {
		return "metrics, say,"
	}
	return want
}

func targetOf(p corev1.ServicePort) string {
	if t := p.TargetPort.String(); t != "0" && t != "" {
		return t
	}
	return strconv.Itoa(int(p.Port))
}

// servicePorts formats the ports of a Service: "http (80) and metrics (8080)".
func servicePorts(svc service) string {
	var out []string
	if svc.byAddresses() {
		for _, name := range compact(svc.addresses) {
			text := "one without a name"
			if name != "" {
				text = strconv.Quote(name)
			}
			out = append(out, text+" in its Endpoints")
		}
		return and(out)
	}
	for _, p := range svc.spec.Ports {
		name := excerpt.Name(p.Name)
		if name == "" {
			name = "one without a name"
		}
		out = append(out, fmt.Sprintf("%s (%d)", name, p.Port))
	}
	if len(out) == 0 {
		return "no ports"
	}
	return and(out)
}

// containerPorts formats the ports that pods declare.
func containerPorts(ports []corev1.ContainerPort) string {
	var out []string
	for _, p := range ports {
		text := strconv.Itoa(int(p.ContainerPort))
		if p.Name != "" {
			text = fmt.Sprintf("%s (%s)", excerpt.Name(p.Name), text)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "no port"
	}
	return and(compact(out))
}

// noTargetPort returns a hint if the Services have the port, but target a name that no container
// declares.
func (v *View) noTargetPort(s *Search, selected []service) []Hint {
	var first *Hint
	for _, svc := range selected {
		behind := v.behind(svc)
		for _, p := range svc.spec.Ports {
			if !s.port.want.matches(p.Name) {
				continue
			}
			if p.TargetPort.StrVal == "" || len(behind) == 0 || slices.ContainsFunc(behind, func(b pods) bool { _, ok := containerPort(b, p); return ok }) {
				return nil
			}
			if first == nil {
				remedy := onLoopback(behind)
				if remedy == "" {
					remedy = ": correct targetPort of the Service, or name the container port so"
				}
				first = &Hint{Code: NoTarget, Field: s.port.field, Message: fmt.Sprintf("port %s of %s leads to targetPort %q, and the pods of %s declare %s%s",
					p.Name, svc, p.TargetPort.StrVal, names(candidates(behind, ofPods)), containerPorts(behind[0].ports), remedy)}
			}
		}
	}
	if first == nil {
		return nil
	}
	return []Hint{*first}
}

// declares reports whether pods declare the container port.
func (p port) declares(b pods) bool {
	return slices.ContainsFunc(b.ports, p.wants)
}

// wants reports whether a container port matches the search.
func (p port) wants(c corev1.ContainerPort) bool {
	return p.of == containerName && p.want.matches(c.Name) || p.of == containerNumber && c.ContainerPort == p.n
}

// word returns the port as the user wrote it.
func (p port) word() string {
	if p.of == containerNumber {
		return strconv.Itoa(int(p.n))
	}
	return strconv.Quote(p.want.text)
}

// noContainerPort returns a hint if no pod behind the Services declares the port.
func (v *View) noContainerPort(s *Search, selected []service) []Hint {
	var behind []pods
	for _, svc := range selected {
		here := v.behind(svc)
		if len(here) == 0 {
			return nil // its pods are unknown
		}
		behind = append(behind, here...)
	}
	if slices.ContainsFunc(behind, s.port.declares) {
		return nil
	}
	message := fmt.Sprintf("%s matches ports that containers declare; the pods of %s declare %s", s.port.word(),
		names(candidates(behind, ofPods)[:1]), containerPorts(behind[0].ports))
	word := s.portWord()
	for _, svc := range selected {
		for _, p := range svc.spec.Ports {
			number := s.port.of == containerNumber && (p.Port == s.port.n || p.TargetPort.IntVal == s.port.n)
			if !number && (s.port.of != containerName || !s.port.want.matches(p.Name)) {
				continue
			}
			if p.Name == "" {
				return []Hint{{Code: NoTarget, Field: s.port.field, Message: message + ": declare the container port, or name port " +
					strconv.Itoa(int(p.Port)) + " of " + svc.String() + " and write port with that name"}}
			}
			message += ": " + declare(s, behind[0]) + "write port: " + p.Name + ", the port of " + svc.String()
			if c, ok := containerPort(behind[0], p); ok && s.name == nil {
				message += fmt.Sprintf(", or targetPort: %d", c.ContainerPort)
			}
			return []Hint{{Code: NoTarget, Field: s.port.field, Message: message}}
		}
	}
	return []Hint{{Code: NoTarget, Field: s.port.field, Message: message + s.meantPort(word, behind[0].ports)}}
}

// declare returns a suggestion to declare the port, if the pods declare none.
func declare(s *Search, b pods) string {
	switch {
	case len(b.ports) > 0:
		return ""
	case s.port.of == containerNumber:
		return fmt.Sprintf("declare containerPort: %d in the container, or ", s.port.n)
	}
	return fmt.Sprintf("declare a port named %s in the container, or ", s.port.want.text)
}

// meantPort returns a suggestion for one of the ports that containers declare.
func (s *Search) meantPort(word string, ports []corev1.ContainerPort) string {
	var named []string
	for _, p := range ports {
		if p.Name != "" {
			named = append(named, p.Name)
		}
		if p.Name != "" && strconv.Itoa(int(p.ContainerPort)) == s.port.want.text {
			return fmt.Sprintf(": did you mean %s: %s, or %s: %d?", word, p.Name, numberWord(s), p.ContainerPort)
		}
		if strconv.Itoa(int(p.ContainerPort)) == s.port.want.text {
			return fmt.Sprintf(": write %s: %d", numberWord(s), p.ContainerPort)
		}
	}
	if similar := manifest.Similar(s.port.want.text, named); s.port.of == containerName && similar != "" {
		return fmt.Sprintf(": did you mean %s: %s?", word, similar)
	}
	switch {
	case len(ports) == 0:
		return ": declare it in the container"
	case len(ports) == 1 && s.port.of == containerName && len(named) == 1:
		return fmt.Sprintf(": write %s: %s", word, named[0])
	case len(ports) == 1:
		return fmt.Sprintf(": write %s: %d", numberWord(s), ports[0].ContainerPort)
	}
	return ": write one of them, or declare it in the container"
}

// numberWord returns the field for the number of a container port.
func numberWord(s *Search) string {
	switch {
	case s.Role == rolePod:
		return "portNumber"
	case s.name != nil:
		return "port"
	}
	return "targetPort"
}
