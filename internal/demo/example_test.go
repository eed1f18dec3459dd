package demo_test

import (
	"fmt"

	"pdpp/internal/demo"
)

func ExampleLines() {
	for line := range demo.Lines("bank", "giro") {
		fmt.Println(string(line))
		break
	}
	// Output:
	// {"type":"RECORD","stream":"transactions","key":100001,"data":{"id":100001,"account_id":"acc-giro","booked_at":"2023-01-02","amount":-250.00,"amount_minor":-25000,"currency":"EUR","counterparty":"Savings","category":"savings","memo":"Übertrag Sparen","kind":"standing_order","reference_no":null,"balance_after_minor":396035,"statement_id":"[\"acc-giro\",\"2023-01\"]"},"emitted_at":"2023-01-02T20:00:01Z"}
}
