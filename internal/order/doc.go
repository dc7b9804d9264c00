// Package order holds the one order of precedence among objects of equal rank, used for ListenerSets (GEP-1713, "Listener
// Precedence") and for policies (GEP-713, "Conflict Resolution") alike. It must not know what it orders.
package order
