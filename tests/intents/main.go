// Calls the example of plugins/intents/README.md, which build.sh puts beside this file:
//
//	intents CONNECTION-STRING CUSTOMER SIZE
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	_ "github.com/lib/pq"
)

func main() {
	db, err := sql.Open("postgres", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	intent, err := PlaceOrder(context.Background(), db, os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(intent)
}
