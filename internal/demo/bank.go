package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// entry is one transaction of an account.
type entry struct {
	at             time.Time
	cents          int
	counterparty   string
	category, memo string
	kind           string
	yen            int // the price in yen; 0 for payments in euros
}

// brandtRent returns the rent of the old flat in a month, in cents: 980.00, and
// 1,058.40 after the increase of December 2023.
func brandtRent(m time.Time) int {
	if m.Before(moment("2023-12-01")) {
		return 98000
	}
	return 105840
}

// rent returns the standing order of a month: landlord, memo and amount.
func rent(m time.Time) (landlord, memo string, cents int) {
	switch {
	case m.Before(moment("2025-05-01")):
		return "Brandt Hausverwaltung", "Miete Osterstr. 41, 3. OG li.", brandtRent(m)
	default:
		return "Aylin Demir", "Miete Bahrenfelder Straße, 2. OG", 124000
	}
}

func (w *world) bank(account string) []record {
	entries := w.regular(account)
	entries = append(entries, w.events(account)...)
	if account == "giro" {
		entries = append(entries, w.rents()...)
		entries = append(entries, w.income()...)
		entries = append(entries, w.shopping()...)
		entries = append(entries, w.kyoto()...)
	} else {
		entries = append(entries, w.interest()...)
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return e.at.After(lastDay) })
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	return transactions(account, entries)
}

// transactions numbers the entries, computes the balance and adds a statement for each
// month.
func transactions(account string, entries []entry) []record {
	d := newDice("bank " + account)
	id, balance := 100000, 421035
	if account == "savings" {
		id, balance = 500000, 914200
	}
	var out []record
	perMonth := make(map[string]*statement)
	seen := 0 // transactions of the same day
	for i, e := range entries {
		seen++
		if i > 0 && !e.at.Equal(entries[i-1].at) {
			seen = 1
		}
		id++
		balance += e.cents
		s := perMonth[month(e.at)]
		if s == nil {
			s = &statement{opening: balance - e.cents}
			perMonth[month(e.at)] = s
		}
		s.add(e, balance)
		out = append(out, record{"transactions", fmt.Sprint(id), e.data(account, id, balance, d), e.at.Add(20*time.Hour + time.Duration(seen)*time.Second)})
	}
	for m := range months() {
		if s := perMonth[month(m)]; s != nil {
			out = append(out, s.record(account, m))
		}
	}
	return out
}

func accountID(account string) string { return "acc-" + account }

// statementID returns the canonical id of a month's statement (REC-2, compound key).
func statementID(account string, t time.Time) string {
	return "[" + quoted(accountID(account)) + "," + quoted(month(t)) + "]"
}

func (e entry) data(account string, id, balance int, d *dice) []byte {
	var o object
	o.integer("id", int64(id))
	o.str("account_id", accountID(account))
	o.str("booked_at", isoDay(e.at))
	if e.cents%100000 == 0 && e.cents > 0 {
		o.raw("amount", fmt.Sprintf("%de3", e.cents/100000)) // exponents are legal in JSON numbers
	} else {
		o.raw("amount", euros(e.cents))
	}
	o.integer("amount_minor", int64(e.cents))
	o.str("currency", "EUR")
	o.str("counterparty", e.counterparty)
	o.strOrNull("category", e.category)
	o.str("memo", e.memo)
	o.str("kind", e.kind)
	if e.kind == "card" { // beyond 2^53: the digits must not change (C-33)
		o.integer("reference_no", 900719925474099300+int64(id)*101+int64(d.between(0, 99)))
	} else {
		o.raw("reference_no", "null")
	}
	if e.yen > 0 {
		o.str("original_currency", "JPY")
		o.integer("original_amount", int64(-e.yen))
	}
	o.integer("balance_after_minor", int64(balance))
	o.str("statement_id", statementID(account, e.at))
	return o.bytes()
}

// statement summarizes one month of an account.
type statement struct {
	opening, closing int
	in, out          int
	count            int
}

func (s *statement) add(e entry, balance int) {
	s.closing = balance
	s.count++
	if e.cents > 0 {
		s.in += e.cents
	} else {
		s.out += e.cents
	}
}

func (s *statement) record(account string, m time.Time) record {
	end := m.AddDate(0, 1, -1)
	var o object
	o.str("account_id", accountID(account))
	o.str("month", month(m))
	o.str("as_of", isoDay(end))
	o.raw("closing", euros(s.closing))
	o.integer("opening_minor", int64(s.opening))
	o.integer("closing_minor", int64(s.closing))
	o.integer("in_minor", int64(s.in))
	o.integer("out_minor", int64(s.out))
	o.integer("transaction_count", int64(s.count))
	o.str("currency", "EUR")
	if strings.HasSuffix(month(m), "-12") {
		o.str("remark", "Jahresabschluss")
	}
	emitted := end.Add(22 * time.Hour)
	if emitted.After(lastDay.Add(2 * day)) {
		emitted = lastDay.Add(22 * time.Hour) // the current month
	}
	return record{"balances", statementID(account, m), o.bytes(), emitted}
}
