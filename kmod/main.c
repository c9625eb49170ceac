// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading. */
#include <linux/genetlink.h>
#include <linux/init.h>
#include <linux/module.h>

#include "lockheld.h"

static int __init lockheld_init(void)
{
	int err;

	lh_wait_init();
	err = lh_slab_init();
	if (err)
		return err;
	err = lh_hooks_init();
	if (err)
		return err;
	err = lh_records_init();
	if (err)
		goto err_records;
	err = lh_events_init();
	if (err)
		goto err_events;
	err = lh_netlink_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	lh_events_exit();
err_events:
	lh_records_exit();
err_records:
	lh_hooks_exit();
	return err;
}

static void __exit lockheld_exit(void)
{
	lh_netlink_exit();
	lh_events_exit();
	lh_records_exit();
	lh_hooks_exit();
}

module_init(lockheld_init);
module_exit(lockheld_exit);

MODULE_DESCRIPTION("Filter perf samples by the locks held");
MODULE_AUTHOR("The lockheld authors");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_GENL_FAMILY(LOCKHELD_GENL_NAME);
MODULE_LICENSE("GPL");
