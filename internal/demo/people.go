package demo

import "time"

// person is a person whom the owner knows, or the owner.
type person struct {
	key, name, address, lang string
	org, phone, city         string
	box                      string // the mailbox with this contact, or "both"
	notes, birthday          string
}

type people struct {
	list  []*person
	byKey map[string]*person
}

func readPeople(c *corpus) *people {
	p := &people{byKey: make(map[string]*person)}
	for _, r := range c.table("people") {
		x := &person{
			key: r[0], name: r[1], address: r[2], lang: r[3], org: r[4], phone: r[5],
			city: r[6], box: r[7], notes: r[8], birthday: r[9],
		}
		p.list = append(p.list, x)
		p.byKey[x.key] = x
	}
	return p
}

func (p *people) get(key string) *person {
	x := p.byKey[key]
	if x == nil {
		panic("demo: there is no person named " + key)
	}
	return x
}

// isOwner reports whether the person is the owner under one of her addresses.
func (p *person) isOwner() bool { return p.key == "mara" || p.key == "studio" }

// contacts returns the address book of one mailbox. Contacts have no event time: they are
// state, not history.
func (w *world) contacts(box string) []record {
	var out []record
	at := firstDay.Add(5 * time.Hour)
	for i, p := range w.people.list {
		if p.box != box && p.box != "both" {
			continue
		}
		at = at.Add(37 * time.Second)
		out = append(out, record{"contacts", quoted("con-" + p.key), contact(i, p), at})
	}
	return out
}

func contact(i int, p *person) []byte {
	var o object
	o.str("id", "con-"+p.key)
	o.str("display_name", p.name)
	o.list("addresses", []string{p.address})
	o.strOrNull("organization", p.org)
	if p.phone != "" || i%2 == 0 { // otherwise absent, which differs from null
		o.strOrNull("phone", p.phone)
	}
	o.strOrNull("city", p.city)
	o.strOrNull("birthday", p.birthday)
	o.str("language", p.lang)
	o.boolean("favorite", p.birthday != "")
	o.strOrNull("notes", p.notes)
	if p.key == "samir" {
		o.str("x_nickname", "جار القهوة") // undeclared on purpose
	}
	return o.bytes()
}
