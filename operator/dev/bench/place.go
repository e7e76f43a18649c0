package main

import "fmt"

// Where the objects are. Workloads that select the same objects are together in one namespace, and the objects are
// distributed across those of 50 teams. Workloads with objects of their own are tenants: they have two or three
// namespaces with a label each, in the first of which they are themselves.
const (
	ownerNamespace = "monitoring"
	teams          = 50
	tenantLabel    = "tenant"
)

func team(i int) string { return fmt.Sprintf("team-%02d", i) }

func ownerName(i int) string { return fmt.Sprintf("main-%02d", i) }

// firstTeam returns the number of the first namespace of a tenant: 0, 3, 5, 8, 10.
func firstTeam(tenant int) int { return (5*tenant + 1) / 2 }

// namespaceOf returns the namespace of the i-th selected object.
func (s size) namespaceOf(i int) string {
	if !s.apart {
		return team(i % teams)
	}
	tenant := i % s.owners
	first := firstTeam(tenant)
	return team(first + i/s.owners%(firstTeam(tenant+1)-first))
}

// ownerNamespace returns the namespace of the i-th workload.
func (s size) ownerNamespace(i int) string {
	if s.apart {
		return team(firstTeam(i))
	}
	return ownerNamespace
}

// namespaces returns the labels of all namespaces, by name.
func (s size) namespaces() map[string]map[string]string {
	out := map[string]map[string]string{}
	if !s.apart {
		out[ownerNamespace] = nil
		for i := range teams {
			out[team(i)] = nil
		}
		return out
	}
	for tenant := range s.owners {
		for i := firstTeam(tenant); i < firstTeam(tenant+1); i++ {
			out[team(i)] = map[string]string{tenantLabel: ownerName(tenant)}
		}
	}
	return out
}

// newOwner returns the i-th workload.
func (s size) newOwner(i int) object {
	w := s.subject.owners.object(i)
	if s.apart {
		s.confine(w, tenantLabel, ownerName(i))
	}
	return w
}
