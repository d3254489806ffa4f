# dh --with davit: dh_davit makes ${davit:Depends} of each package with plugins.
use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

insert_before('dh_gencontrol', 'dh_davit');

1;
