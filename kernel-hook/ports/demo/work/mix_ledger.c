/* SPDX-License-Identifier: MIT */
/* The phase `ledger`: contended locks. A spin lock guards the accounts, a mutex guards their journal. */
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/mutex.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/checksum.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/time.h"

enum { ACCOUNTS = 256, TRANSFERS = 200, ENTRIES = 512 };

static struct spin accounts_lock;	/* guards the accounts */
static int64_t accounts[ACCOUNTS];

static struct mutex journal_lock;	/* guards the journal */
static struct entry {
	uint32_t from, to;
	int64_t amount;
} journal[ENTRIES];
static uint32_t journal_next;

static void account_debit(uint32_t account, int64_t amount)
{
	accounts[account] -= amount;
}

static void account_credit(uint32_t account, int64_t amount)
{
	accounts[account] += amount;
}

static int64_t accounts_total(void)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < ACCOUNTS; i++)
		total += accounts[i];
	return total;
}

static void ledger_transfer(const struct entry *entry)
{
	spin_lock(&accounts_lock);
	account_debit(entry->from, entry->amount);
	account_credit(entry->to, entry->amount);
	spin_unlock(&accounts_lock);
}

static void ledger_audit(void)
{
	spin_lock(&accounts_lock);
	for (uint32_t i = 0; i < 20; i++)
		accounts_total();
	spin_unlock(&accounts_lock);
}

static uint32_t journal_seal(void)
{
	return checksum_crc32(0, journal, sizeof(journal));
}

static void journal_add(const struct entry *entry)
{
	mutex_lock(&journal_lock);
	journal[journal_next++ % ENTRIES] = *entry;
	if (journal_next % 64 == 0)
		journal_seal();
	mutex_unlock(&journal_lock);
}

void ledger_start(void)
{
	mutex_init(&journal_lock, "journal", -1);
}

void ledger_work(uint32_t worker, uint32_t round)
{
	struct random random = random_seed((uint64_t)worker << 32 | round);

	for (uint32_t i = 0; i < TRANSFERS; i++) {
		struct entry entry = {
			.from = random_below(&random, ACCOUNTS),
			.to = random_below(&random, ACCOUNTS),
			.amount = random_below(&random, 1000),
		};

		ledger_transfer(&entry);
		journal_add(&entry);
	}
	ledger_audit();
	if (round % 16 == 0)
		sched_sleep(NS_PER_MS);
}
